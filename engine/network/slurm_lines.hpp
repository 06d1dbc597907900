// SPDX-License-Identifier: Apache-2.0
// The switches of a topology.conf as its lines give them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::network {

struct SlurmSwitch {
  std::string name;
  std::size_t line = 0;
  std::vector<std::string> nodes, switches;  ///< one of the two is empty, the other is not
};

/// In the order of the file, not yet checked against each other. Throws Error(bad_command_line) that names file and
/// line.
std::vector<SlurmSwitch> read_slurm_switches(const std::string& file, std::string_view text);

}  // namespace leadline::network
