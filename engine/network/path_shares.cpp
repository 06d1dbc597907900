// SPDX-License-Identifier: Apache-2.0
// From each group by increasing hops.
#include "network/path_shares.hpp"

#include <algorithm>

namespace leadline::network {

PathShares::PathShares(const Network& network)
    : network_(network),
      num_(network.hops.empty() ? 0 : static_cast<std::uint32_t>(network.levels.front().names.size())),
      num_paths_(std::size_t{num_} * num_) {
  std::vector<std::vector<std::uint32_t>> neighbours(num_);
  for (std::uint32_t one = 0; one < num_; ++one) {
    for (std::uint32_t other = 0; other < num_; ++other) {
      if (are_neighbours(one, other)) neighbours[one].push_back(other);
    }
  }
  for (std::uint32_t from = 0; from < num_; ++from) {
    num_paths(from, from) = 1;
    std::vector<std::uint32_t> reached{from};
    std::vector<std::uint8_t> is_reached(num_, 0);
    is_reached[from] = 1;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      const std::uint32_t here = reached[next];
      for (const std::uint32_t neighbour : neighbours[here]) {
        if (hops(from, neighbour) != hops(from, here) + 1) continue;
        num_paths(from, neighbour) += num_paths(from, here);
        if (is_reached[neighbour] == 0) reached.push_back(neighbour);
        is_reached[neighbour] = 1;
      }
    }
  }
}

double PathShares::of_cable(std::uint32_t first, std::uint32_t second, std::uint32_t from, std::uint32_t to) const {
  const double all = num_paths(from, to);
  if (all == 0) return 0;
  double with = 0;
  if (hops(from, first) + 1 + hops(second, to) == hops(from, to))
    with += num_paths(from, first) * num_paths(second, to);
  if (hops(from, second) + 1 + hops(first, to) == hops(from, to))
    with += num_paths(from, second) * num_paths(first, to);
  return std::min(with / all, 1.0);
}

}  // namespace leadline::network
