// SPDX-License-Identifier: Apache-2.0
// InfiniBand fabrics out of the output of ibnetdiscover.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace leadline::network {

/// A host is called as the first word of its adapters' descriptions ("node018 HCA-1"), and hangs on the switch of the
/// first port of its first adapter. Adapters that tell no host (those inside switches) are left out. Throws
/// Error(bad_command_line) that names the file and, where there is one, the line.
Network parse_ib_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
