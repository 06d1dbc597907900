// SPDX-License-Identifier: Apache-2.0
// The limit that --fail-below gives.
#pragma once

#include <string>

#include "model/link_request.hpp"

namespace leadline::bench::link {

/// "90%", "10GiB/s" or "5us". Throws Error(bad_command_line).
FailBelow parse_fail_below(const std::string& option, const std::string& text);

}  // namespace leadline::bench::link
