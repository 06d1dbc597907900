// SPDX-License-Identifier: Apache-2.0
// Exact order statistics of numbers that are spread over all ranks, without bringing them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"

namespace leadline::bench {

/// The index-th (0-based) smallest of the numbers of a group; they lie between min and max, of all ranks.
struct OrderStatistic {
  std::size_t group = 0;
  std::uint64_t index = 0;
  double min = 0, max = 0;
};

/// How many of this rank's numbers in a group are at most `bound`.
using CountUpTo = std::function<std::uint64_t(std::size_t group, double bound)>;

/// Of numbers that are sorted ascending.
std::uint64_t count_up_to(std::span<const double> sorted, double bound);

/// Collective: the values of all that is wanted, which is the same on all ranks; numbers are positive and finite.
/// Memory: O(wanted). A few dozen small reductions: all are narrowed down together, 16 ways at a time, on the bit
/// patterns of the numbers (which order positive doubles as their values do), so the result is exact.
std::vector<double> order_statistics(cluster::Cluster& cluster, std::span<const OrderStatistic> wanted,
                                     const CountUpTo& count_up_to);

}  // namespace leadline::bench
