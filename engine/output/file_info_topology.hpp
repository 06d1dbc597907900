// SPDX-License-Identifier: Apache-2.0
// The result of a topology test described, for people and for programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/result.hpp"
#include "result/topology/hdf5_reader.hpp"

namespace leadline::output {

struct TopologyInfo {
  result::topology::Header header;  ///< without the summary
  std::vector<HostRanks> hosts;     ///< in order of their first ranks
  std::size_t num_load_points = 0;
  bool has_summary = false;
  std::vector<std::optional<result::topology::BestRates>> best;  ///< by topology
};

TopologyInfo topology_info(const result::topology::Hdf5Reader& reader);

/// Lines, each with its end.
std::string topology_info_text(const TopologyInfo& info);

Json topology_info_json(const TopologyInfo& info);

}  // namespace leadline::output
