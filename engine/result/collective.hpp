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

/// Collective: `step` runs on the root; where that is lost meanwhile, on the next one, whatever has been done of it.
template <typename Step>
void root_or_error(cluster::Cluster& cluster, Step step) {
  cluster::repeat_for_new_root(cluster, [&](int root) {
    all_or_error(cluster, [&] {
      if (cluster.rank() == root) step();
    });
  });
}

/// Collective: likewise; its text on all ranks, or its error.
template <typename Step>
std::string text_of_root(cluster::Cluster& cluster, Step step) {
  std::string text;
  cluster::repeat_for_new_root(cluster, [&](int root) {
    std::string own;
    all_or_error(cluster, [&] {
      if (cluster.rank() == root) own = step();
    });
    text = cluster.broadcast(own);
  });
  return text;
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
