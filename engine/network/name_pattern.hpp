// SPDX-License-Identifier: Apache-2.0
// Networks that follow from the names of hosts: "r(\d+)c(\d+)n\d+" finds rack and chassis.
#pragma once

#include <string>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// One level for each group of the regular expression (ECMAScript), the outermost first; a level has the name of its
/// group, "(?<rack>\d+)", else "name group". The expression matches a host's whole name, or else all of it up to the
/// first dot. Throws Error(bad_command_line) for an expression that is none or has no group, and for hosts that it does
/// not match.
Network by_pattern(const std::string& pattern, const std::vector<std::string>& hosts);

}  // namespace leadline::network
