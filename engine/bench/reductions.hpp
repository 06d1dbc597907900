// SPDX-License-Identifier: Apache-2.0
// Numbers of all ranks brought together over the control plane.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cluster/cluster.hpp"

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

/// Collective: element by element the greatest of all ranks' values, on all ranks; equally many on each. Travels in
/// pieces of bounded size.
void max_over_ranks(cluster::Cluster& cluster, std::span<double> values);

/// Collective: likewise the sums.
void sum_over_ranks(cluster::Cluster& cluster, std::span<double> values);
void sum_over_ranks(cluster::Cluster& cluster, std::span<std::uint64_t> values);

}  // namespace leadline::bench
