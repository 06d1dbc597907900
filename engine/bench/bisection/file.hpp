// SPDX-License-Identifier: Apache-2.0
// The file of a bisection test from before its first message to its end: one interface for HDF5, JSON and no file at
// all.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/bisection/output.hpp"
#include "bench/bisection/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::bisection {

using BisectionFile = result::ResultFile<PatternStore, BisectionResult>;

struct BisectionFileSetup : result::RunFileSetup {
  std::uint64_t max_patterns = 0;  ///< of a message size: Plan::max_patterns
  std::uint64_t max_baseline = 0;  ///< pairs alone, of a message size
};

/// Collective: creates and checks the file before the first message and writes what is known: `so_far` is request,
/// provenance, pattern_names, num_participants and within_hosts. Throws on every rank the same Error, as
/// open_link_file does.
std::unique_ptr<BisectionFile> open_bisection_file(cluster::Cluster& cluster, const BisectionResult& so_far,
                                                   const BisectionFileSetup& setup);

}  // namespace leadline::bench::bisection
