// SPDX-License-Identifier: Apache-2.0
// The few calls and objects of a phase that are told one by one.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/io_result.hpp"

namespace leadline::bench::io {

struct SlowAndWrong {
  std::vector<SlowCall> slow_calls;  ///< slowest first
  std::vector<WrongObject> wrong;    ///< worst first
};

/// Collective: the slowest `num_slow` calls and the worst `num_wrong` objects of all ranks, on all ranks: of calls that
/// took equally long, and of wrong objects of one kind, those of the lowest ranks. Travels in texts of that length.
SlowAndWrong worst_of_all(cluster::Cluster& cluster, SlowAndWrong own, std::size_t num_slow, std::size_t num_wrong);

}  // namespace leadline::bench::io
