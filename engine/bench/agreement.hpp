// SPDX-License-Identifier: Apache-2.0
// How ranks end a piece of work together: results kept first, then one decision about what went wrong on any of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "cluster/cluster.hpp"
#include "core/error.hpp"

namespace leadline::bench {

/// A byte that arrived otherwise than it was sent.
struct WrongByte {
  std::uint64_t exchange = 0;  ///< in which it was found; counted alike on all ranks
  Error error;
};

/// Collective: what an error of any rank becomes on all of them. Null where this rank is well.
void agree(cluster::Cluster& cluster, const Error* own);

/// Collective: does `write`; then, where any rank found a wrong byte, all throw AgreedError about the earliest (of one
/// exchange: the lowest rank's); else about what a rank could not write.
void write_and_agree(cluster::Cluster& cluster, const std::function<void()>& write,
                     const std::optional<WrongByte>& own);

}  // namespace leadline::bench
