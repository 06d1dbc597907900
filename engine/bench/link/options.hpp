// SPDX-License-Identifier: Apache-2.0
// The options of `leadline link`, each declared once with its help, its check and its member of the request.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/request.hpp"
#include "options/option_table.hpp"

namespace leadline::bench::link {

/// All of them, in the order of the help; what `request` holds is their default. The request and `format`, which gets
/// what --format says, outlive the table.
void declare_options(OptionTable& options, LinkRequest& request, std::optional<ResultFormat>& format);

/// What a result says of its options.
std::vector<Option> options_of(const LinkRequest& request);

/// The other way round, of those alone that decide which ranks meet in which round. Throws Error(bad_command_line) for
/// what is no value of one.
LinkRequest schedule_request(const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace leadline::bench::link
