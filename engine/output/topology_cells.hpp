// SPDX-License-Identifier: Apache-2.0
// The cells of a topology test in the order in which they are shown: by topology and size, repeats together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/topology_result.hpp"

namespace leadline::output {

/// A topology at a size, over its repeats.
struct RepeatedCell {
  /// The repeat in the middle by its median time, of two in the middle the slower; null = never measured.
  const CellSummary* middle = nullptr;
  std::size_t num_repeats = 0;
  double time_ns_least = 0, time_ns_greatest = 0;  ///< of the repeats' medians

  /// (Greatest - least) / middle.
  double spread() const;
};

/// Refers to the result.
class TopologyCells {
 public:
  explicit TopologyCells(const TopologyResult& result);

  const RepeatedCell& at(std::size_t topology_index, std::size_t size_index) const {
    return cells_[topology_index * num_sizes_ + size_index];
  }

  /// The chosen rate at the median exchange of the middle repeat; NaN = not measured.
  double rate(std::size_t topology_index, std::size_t size_index, Rate rate) const;

  /// The same at another time of an exchange.
  double rate_at(std::size_t topology_index, std::size_t size_index, Rate rate, double time_ns) const;

  std::size_t num_topologies() const { return result_.topologies.size(); }
  std::size_t num_sizes() const { return num_sizes_; }

  /// The largest of which anything was measured; num_sizes() where nothing was.
  std::size_t largest_measured() const;

  /// Topologies by their rate at this size, the lowest first; those not measured are left out.
  std::vector<std::size_t> by_rate(std::size_t size_index, Rate rate) const;

 private:
  const TopologyResult& result_;
  std::size_t num_sizes_;
  std::vector<RepeatedCell> cells_;
};

double chosen(const Rates& rates, Rate rate);

}  // namespace leadline::output
