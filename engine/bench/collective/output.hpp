// SPDX-License-Identifier: Apache-2.0
// The interfaces by which the collective test stores and shows its results while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "bench/collective/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::collective {

/// A rank's own time of an operation, over the batches of a cell in a round; NaN where it rested.
struct RankTimes {
  double min = std::numeric_limits<double>::quiet_NaN(), median = min, max = min;
};

/// Of a group in a batch: its slowest rank's.
struct GroupTime {
  double time_ns = 0;
};

/// Where a rank is in a round.
struct Membership {
  std::int32_t group = 0;  ///< number from 1; 0 = it rests
};

/// What a cell has brought in a round. Spans are valid during the call.
struct CellRow {
  std::uint32_t round = 0;
  std::size_t cell = 0;
  Membership membership;              ///< this rank's
  RankTimes own;                      ///< likewise
  std::span<const GroupTime> groups;  ///< group by group, batch by batch; the same on all ranks
};

/// Keeps cells while the run goes on. Every rank has one. All members may throw Error (disk full ...): the caller
/// agrees on it with the others.
class CellStore {
 public:
  virtual ~CellStore() = default;

  /// Local, the same on all ranks: whether any rank can complete the result where rank 0 is lost.
  virtual bool any_rank_can_finish() const { return false; }

  /// Collective: a cell is measured in a round. Again where the root has changed in it.
  virtual void write(const CellRow& row) = 0;
};

using CollectiveFile = result::ResultFile<CellStore, CollectiveResult>;

/// Collective: creates and checks the file before the first message and writes what is known: `so_far` is request,
/// provenance and who does the operations among how many. Throws on every rank the same Error, as open_link_file does.
std::unique_ptr<CollectiveFile> open_collective_file(cluster::Cluster& cluster, const CollectiveResult& so_far,
                                                     const result::RunFileSetup& setup);

/// Shows progress; only rank 0 has one. What is not overridden shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `share`: of the whole run that is done, 0 to 1.
  virtual void cell_begins(std::uint32_t /*round*/, const std::string& /*what*/, double /*share*/) {}
  virtual void round_ends(std::uint32_t /*round*/, double /*elapsed_s*/) {}
  virtual void pair_lost(int /*low*/, int /*high*/, const std::string& /*why*/) {}
};

}  // namespace leadline::bench::collective
