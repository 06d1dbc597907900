// SPDX-License-Identifier: Apache-2.0
// Which of the shortest paths between two switches have a certain cable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// Of more groups the paths are too many to be counted for each element.
inline constexpr std::size_t most_path_groups = 256;

/// Counts shortest paths between the innermost groups of a network that has hops. Takes their square in doubles, and
/// their cube in time where all are neighbours.
class PathShares {
 public:
  /// `network` outlives it. Without hops there are no paths.
  explicit PathShares(const Network& network);

  /// Of the shortest paths from one group to another those that have the cable between two neighbours, either way: 0 to
  /// 1. 0 where groups lie farther apart than a path over other groups with hosts.
  double of_cable(std::uint32_t first, std::uint32_t second, std::uint32_t from, std::uint32_t to) const;

  bool are_neighbours(std::uint32_t one, std::uint32_t other) const { return hops(one, other) == 1; }
  std::uint32_t num_groups() const { return num_; }

 private:
  std::uint32_t hops(std::uint32_t from, std::uint32_t to) const {
    return network_.hops[std::size_t{from} * num_ + to];
  }
  double& num_paths(std::uint32_t from, std::uint32_t to) { return num_paths_[std::size_t{from} * num_ + to]; }
  double num_paths(std::uint32_t from, std::uint32_t to) const { return num_paths_[std::size_t{from} * num_ + to]; }

  const Network& network_;
  std::uint32_t num_;
  std::vector<double> num_paths_;  ///< over groups of one hop each; 0 where they are longer than the hops
};

}  // namespace leadline::network
