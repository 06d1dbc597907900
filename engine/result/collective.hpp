// SPDX-License-Identifier: Apache-2.0
// Steps that one rank takes for all: either all go on with its result, or all throw its error.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cluster/cluster.hpp"
#include "core/error.hpp"

namespace leadline::result {

/// Collective: each rank takes its step; the error of any becomes everyone's.
template <typename Step>
void all_or_error(cluster::Cluster& cluster, Step step) {
  std::optional<Error> error;
  try {
    step();
  } catch (const Error& own) {
    error = own;
  }
  cluster.agree(error ? &*error : nullptr);
}

/// Collective: `step` runs on rank 0; its text on all ranks, or its error.
template <typename Step>
std::string text_of_rank_0(cluster::Cluster& cluster, Step step) {
  std::string text;
  all_or_error(cluster, [&] {
    if (cluster.rank() == 0) text = step();
  });
  return cluster.broadcast(text);
}

/// Values as they lie in memory; all ranks of a run are of one architecture.
template <typename Value>
std::string as_bytes(std::span<const Value> values) {
  static_assert(std::is_trivially_copyable_v<Value>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <typename Value>
std::vector<Value> from_bytes(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

}  // namespace leadline::result
