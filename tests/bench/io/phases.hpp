// SPDX-License-Identifier: Apache-2.0
// Phases of made-up ranks, and the summary that rank 0 gets of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/summary.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::io {

inline constexpr std::uint64_t mib = 1 << 20;

inline double& time_in(RankPhase& row, IoTime time) { return row.times_ns[static_cast<std::size_t>(time)]; }
inline const RankSpread& time_in(const PhaseSummary& summary, IoTime time) {
  return summary.times[static_cast<std::size_t>(time)];
}

/// One rank's part, and what it brings along.
struct Part {
  RankPhase row;
  std::string file_system = "ext4";
  std::string host = "node0";
  std::vector<std::string> files{"a", "b"};
  std::vector<SlowCall> slow_calls;
  std::vector<WrongObject> wrong;
  std::string error;
  double stop_ns = 0;
};

/// `num_bytes` in `io_ns`, all of it inside one call.
inline RankPhase row_of(std::uint64_t num_bytes, double io_ns) {
  RankPhase row;
  row.end_ns = row.done_ns = row.io_ns = time_in(row, IoTime::call) = row.call_ns_min = row.call_ns_max = io_ns;
  row.num_objects = row.num_calls = 1;
  row.bytes = num_bytes;
  row.file = 0;
  return row;
}

using Describe = std::function<void(int rank, Part& part)>;

/// Rank 0's summary of a phase of `num_ranks` ranks.
inline PhaseSummary summary_of(int num_ranks, const IoRequest& request, IoOperation operation,
                               const Describe& describe) {
  PhaseSummary at_root;
  test::run_on_threads(std::vector<std::uint32_t>(static_cast<std::size_t>(num_ranks), 0),
                       [&](test::ThreadCluster& cluster) {
                         Part part;
                         describe(cluster.rank(), part);
                         const PhaseContext context{request,         part.file_system, part.host,  part.files,
                                                    part.slow_calls, part.wrong,       part.error, part.stop_ns};
                         PhaseSummary summary = summarize_phase(cluster, {3, operation, 1}, part.row, context);
                         if (cluster.rank() == 0) at_root = std::move(summary);
                       });
  return at_root;
}

inline PhaseSummary summary_of(int num_ranks, const Describe& describe) {
  return summary_of(num_ranks, {}, IoOperation::write, describe);
}

}  // namespace leadline::bench::io
