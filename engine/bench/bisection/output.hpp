// SPDX-License-Identifier: Apache-2.0
// The interfaces by which the bisection test stores and shows its results while it runs; result/ and output/ implement
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bench/bisection/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {

/// What one rank did in one pattern. Times are of one message that it received: of its connection from `from`.
struct RankTimes {
  std::int32_t to = schedule::no_rank, from = schedule::no_rank;
  double time_ns = 0;            ///< 0 = it received nothing
  double full_load_time_ns = 0;  ///< until the first connection of all was done; 0 likewise
};

/// Consecutive patterns of one message size as one rank saw them: its piece of the file. Spans are valid during the
/// call, and the first two equally long. Patterns and baseline are the same on all ranks, but for times by its clock.
struct RankRow {
  int size_index = 0;
  std::uint64_t first_number = 0;  ///< PatternPosition::number of the first
  std::span<const RankTimes> times;
  std::span<const PatternSummary> patterns;
  std::uint64_t first_baseline = 0;          ///< of this size: number of the first of the next
  std::span<const BaselineSample> baseline;  ///< those that have come since the last call
};

/// Keeps patterns while the run goes on. Every rank has one. All members may throw Error (disk full ...): the caller
/// agrees on it with the others.
class PatternStore {
 public:
  virtual ~PatternStore() = default;

  /// Local, the same on all ranks: whether any rank can complete the result where rank 0 is lost.
  virtual bool any_rank_can_finish() const { return false; }

  /// Collective: every few seconds, and when a size is done; never between the timing of ranks. Again where the root
  /// has changed in it.
  virtual void write(const RankRow& row) = 0;
};

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

/// Shows progress; only rank 0 has one. What is not overridden shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void size_begins(int /*size_index*/, std::uint64_t /*message_size_bytes*/) {}
  virtual void pattern_begins(const PatternPosition& /*position*/, const schedule::Pattern& /*pattern*/) {}
  /// `so_far`: the interval over the random patterns of this size.
  virtual void pattern_ends(const PatternSummary& /*summary*/, const Interval& /*so_far*/, double /*elapsed_s*/) {}
  virtual void retest_done(const SlowConnection& /*connection*/) {}
  virtual void pair_lost(int /*low*/, int /*high*/, const std::string& /*why*/) {}
  virtual void size_ends(const BisectionSummary& /*summary*/) {}
};

}  // namespace leadline::bench::bisection
