// SPDX-License-Identifier: Apache-2.0
// The current step of a topology test, for the watch thread, which may read it at any time.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/topology/result.hpp"
#include "core/units.hpp"

namespace leadline::bench::topology {

/// Only the step changes, and it is atomic.
class CurrentStep {
 public:
  CurrentStep(std::vector<std::string> topologies, std::vector<std::uint64_t> message_sizes_bytes, std::string round)
      : topologies_(std::move(topologies)), sizes_bytes_(std::move(message_sizes_bytes)), round_(std::move(round)) {}

  void enter(const Cell& cell) {
    const auto size = num_sizes() * cell.repeat + cell.size_index;
    step_.store(size * num_topologies() + cell.topology_index, std::memory_order_relaxed);
  }

  /// "topology star2, 16 KiB, repeat 1"
  std::string text() const {
    const std::int64_t place = step_.load(std::memory_order_relaxed);
    if (place == opening_links) return "the opening of links";
    const auto topology = static_cast<std::size_t>(place % num_topologies());
    const std::int64_t size = place / num_topologies();
    return fmt::format("topology {}, {}, {} {}", topologies_[topology],
                       format_bytes(sizes_bytes_[static_cast<std::size_t>(size % num_sizes())]), round_,
                       size / num_sizes() + 1);
  }

 private:
  static constexpr std::int64_t opening_links = -1;

  std::int64_t num_topologies() const { return static_cast<std::int64_t>(topologies_.size()); }
  std::int64_t num_sizes() const { return static_cast<std::int64_t>(sizes_bytes_.size()); }

  std::vector<std::string> topologies_;
  std::vector<std::uint64_t> sizes_bytes_;
  std::string round_;  ///< what a repeat is called
  std::atomic<std::int64_t> step_{opening_links};
};

}  // namespace leadline::bench::topology
