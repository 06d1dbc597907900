// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline simulate link`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_output.hpp"
#include "model/link_request.hpp"

namespace leadline::cli {

/// One member per option, same names.
struct SimulateLinkRequest {
  std::vector<std::string> command_line;
  std::string topology;
  std::uint32_t ranks = 0;  ///< 0 = on all hosts
  std::uint32_t ranks_per_host = 1, sockets_per_host = 1;
  std::string faults;
  std::uint32_t random_faults = 0;
  double effect_low = 1.2, effect_high = 1.2;
  std::uint64_t message_size_bytes = 1024;
  Direction direction = Direction::unidirectional;
  std::uint64_t seed = 1;
  int retest = 10;
  std::int64_t rounds = 0;  ///< 0 = all
  FileOutput to;            ///< whose path is never empty
  PairStatistics statistics = PairStatistics::automatic;
};

/// Throws Error(bad_command_line); HelpWanted where --help stands.
SimulateLinkRequest parse_simulate_link(const std::vector<std::string>& arguments);

}  // namespace leadline::cli
