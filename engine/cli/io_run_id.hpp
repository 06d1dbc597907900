// SPDX-License-Identifier: Apache-2.0
// The number in every block's header: which run has written it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/io/plan.hpp"
#include "cluster/cluster.hpp"
#include "model/io_request.hpp"

namespace leadline::cli {

/// Collective, the same on all ranks: random, or where files are only read, the number in the first one. Throws
/// AgreedError.
std::uint64_t run_of(const IoRequest& request, const bench::io::Plan& plan, const std::vector<std::string>& files,
                     cluster::Cluster& cluster);

}  // namespace leadline::cli
