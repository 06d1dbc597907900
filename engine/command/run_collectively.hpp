// SPDX-License-Identifier: Apache-2.0
// A step that all ranks do together: where it fails on one rank, it fails on all.
#pragma once

#include <optional>
#include <utility>

#include "cluster/cluster.hpp"
#include "core/error.hpp"

namespace leadline::command {

/// Collective: does `work` on every rank; where it fails on any, all throw that error as AgreedError.
template <class Work>
auto run_collectively(cluster::Cluster& cluster, const Work& work) {
  std::optional<decltype(work())> value;
  std::optional<Error> own;
  try {
    value.emplace(work());
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    own = error;
  }
  try {
    cluster.agree(own ? &*own : nullptr);
  } catch (const Error& error) {
    throw AgreedError(error);
  }
  return std::move(*value);
}

/// Collective: likewise on the root; where that is lost meanwhile, on the next one, whatever has been done of it.
template <class Work>
void run_on_root(cluster::Cluster& cluster, const Work& work) {
  cluster::repeat_for_new_root(cluster, [&](int root) {
    run_collectively(cluster, [&] {
      if (cluster.rank() == root) work();
      return true;
    });
  });
}

}  // namespace leadline::command
