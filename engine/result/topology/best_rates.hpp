// SPDX-License-Identifier: Apache-2.0
// The highest rates of a topology test, out of the summary in its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/topology_result.hpp"
#include "result/topology/header.hpp"

namespace leadline::result::topology {

/// The cell, or the point of load, with the highest total rate of its topology. Its other rates are then the highest,
/// too, since all are the same multiples of it.
struct BestRates {
  std::uint64_t message_size_bytes = 0;
  std::int64_t repeat = 0;
  Rates rates;  ///< at the median time of an exchange, without the barrier
};

/// By topology; nothing where none was measured, and in a file without a summary. Throws Error(run_failed) naming
/// `path` where the summary is not what docs/formats/json.md says.
std::vector<std::optional<BestRates>> best_rates(const Header& header, const std::string& path);

}  // namespace leadline::result::topology
