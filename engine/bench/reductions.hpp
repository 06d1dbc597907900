// SPDX-License-Identifier: Apache-2.0
// Collective steps that all benchmarks share: numbers of all ranks combined, exact order statistics of numbers that are
// spread over them, and one decision about what went wrong on any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"
#include "core/error.hpp"

namespace leadline::bench {

/// Collective: all ranks' values under `merge` (associative; called in no fixed order), on all ranks. T travels as
/// bytes.
template <class T, class Merge>
T merged_over_ranks(cluster::Cluster& cluster, const T& own, const Merge& merge) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto value_of = [](std::string_view text) {
    T value;
    std::memcpy(static_cast<void*>(&value), text.data(), sizeof value);
    return value;
  };
  const auto text_of = [](const T& value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  return value_of(cluster.all_reduce(text_of(own), [&](const std::string& left, std::string_view right) {
    return text_of(merge(value_of(left), value_of(right)));
  }));
}

/// Collective: the root's value, on all ranks. Where the root is lost in it, that of the next one.
template <class T>
T value_of_root(cluster::Cluster& cluster, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::string text = cluster.broadcast({reinterpret_cast<const char*>(&own), sizeof own});
  T value;
  std::memcpy(static_cast<void*>(&value), text.data(), sizeof value);
  return value;
}

/// Collective: element by element the greatest of all ranks' values, on all ranks; equally many on each. Travels in
/// pieces of bounded size.
void max_over_ranks(cluster::Cluster& cluster, std::span<double> values);

/// Collective: likewise the sums.
void sum_over_ranks(cluster::Cluster& cluster, std::span<double> values);
void sum_over_ranks(cluster::Cluster& cluster, std::span<std::uint64_t> values);

/// A byte that differs from what was sent.
struct WrongByte {
  std::uint64_t exchange = 0;  ///< in which it was found; counted alike on all ranks
  Error error;
};

/// Collective: an error of any rank is thrown on all of them. Null where this rank has none.
void agree(cluster::Cluster& cluster, const Error* own);

/// Collective: does `write`; then, where any rank found a wrong byte, all throw AgreedError about the earliest (of one
/// exchange: the lowest rank's); else about what a rank could not write. Where the root is lost meanwhile `write` is
/// done again: what only the root writes is up to the next one.
void write_and_agree(cluster::Cluster& cluster, const std::function<void()>& write,
                     const std::optional<WrongByte>& own);

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
