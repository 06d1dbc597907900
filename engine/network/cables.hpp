// SPDX-License-Identifier: Apache-2.0
// A file with a physical network as a list of its cables, for whoever follows routes through them.
#pragma once

#include <string>
#include <string_view>

namespace leadline::network {

/// Lines "NODE NODE CAPACITY" and "hosts: NAMES", as parse_edge_topology() reads them; parallel cables are one of their
/// capacities together. Capacities are in Gb/s where the file of ibnetdiscover tells all of them, else those of equal
/// cables. Of a topology.conf, which does not tell how many cables lead up, a switch has one for each host below it. A
/// list of cables is handed on as it is. Throws Error(bad_command_line) that names file and line.
std::string cables_of_file(const std::string& path);

/// Of a text that is there already; `file` is for messages.
std::string cables_of_text(const std::string& file, std::string_view text);

}  // namespace leadline::network
