// SPDX-License-Identifier: Apache-2.0
// The options of `leadline bisection`, each declared once with its help, its check and its member of the request.
#pragma once

#include <optional>
#include <vector>

#include "bench/bisection/request.hpp"
#include "options/option_table.hpp"

namespace leadline::bench::bisection {

/// All of them, in the order of the help; what `request` holds is their default. The request and `format`, which gets
/// what --format says, outlive the table.
void declare_options(OptionTable& options, BisectionRequest& request, std::optional<ResultFormat>& format);

/// What a result says of its options.
std::vector<Option> options_of(const BisectionRequest& request);

}  // namespace leadline::bench::bisection
