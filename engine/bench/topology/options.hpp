// SPDX-License-Identifier: Apache-2.0
// The options of `leadline topology`, each declared once with its help, its check and its member of the request.
#pragma once

#include <optional>
#include <vector>

#include "bench/topology/request.hpp"
#include "options/option_table.hpp"

namespace leadline::bench::topology {

/// All of them, in the order of the help; what `request` holds is their default. The request and `format`, which gets
/// what --format says, outlive the table.
void declare_options(OptionTable& options, TopologyRequest& request, std::optional<ResultFormat>& format);

/// What a result says of its options.
std::vector<Option> options_of(const TopologyRequest& request);

}  // namespace leadline::bench::topology
