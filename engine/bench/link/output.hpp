// SPDX-License-Identifier: Apache-2.0
// The interfaces by which the link test stores and shows its results while it runs; result/ and output/ implement it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/link/result.hpp"
#include "model/pair_cell.hpp"
#include "model/provenance.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// Keeps rows while the run goes on. Every rank has one. All members may throw Error (disk full ...): the caller
/// agrees on it with the others at the next barrier.
class RowStore {
 public:
  virtual ~RowStore() = default;

  /// Local, the same on all ranks: whether any rank can complete the result where rank 0 is lost.
  virtual bool any_rank_can_finish() const { return false; }

  /// Collective: there will be at least `num_repeats` repeats; called once before the first message (num_repeats
  /// from the request) and again if minimum time asks for more.
  virtual void reserve_repeats(int num_repeats) = 0;

  /// Local: why nothing is measured with a partner from now on, as a PairCell. May come several times.
  virtual void note_lost(int /*partner*/, PairCell /*why*/) {}

  /// Collective: this rank's row of the slice as far as it is known, holes being 0. May come several times.
  virtual void write(const Slice& slice, const PairRow& row) = 0;

  /// Collective: this rank's times of the all-to-all before each round, in ns, by the round's number in the plain
  /// schedule (0-based); once, before the last write of the slice.
  virtual void write_all_to_all(const Slice& /*slice*/, std::span<const double> /*time_ns*/) {}

  /// Collective: the rounds in which this rank has met others in a repeat, by partner (1-based, 0 = in none), where
  /// they were not known before. Before close_slice().
  virtual void write_rounds(int /*repeat*/, std::span<const std::int32_t> /*rounds*/) {}

  /// Collective: what this rank measured in each of the randomly sampled rounds there can be, as far as it is known;
  /// holes are 0. Behind each write() where rounds are sampled.
  virtual void write_cells_of_rounds(const Slice& /*slice*/, std::span<const PairCell> /*cells*/) {}

  /// Collective: nothing more of this slice comes; its summary, the same on all ranks.
  virtual void close_slice(const SliceSummary& /*summary*/) {}
};

/// The one pair of a serial round, and what either side measured.
struct SerialPair {
  int first = 0, second = 0;  ///< ranks; `first` leads first
  double first_time_ns = 0, second_time_ns = 0;
};

/// Numbers of one round, over all ranks; times per message in ns over the ordered pairs of the round.
struct RoundNumbers {
  std::int64_t round = 0;   ///< 1-based position in the order of the run
  std::int64_t number = 0;  ///< 1-based number in the plain schedule
  std::uint64_t num_pairs = 0;
  double time_ns_min = 0, time_ns_mean = 0, time_ns_max = 0;
  /// Rounds of a bisection: what the pairs move across the cut together; least and greatest as if all were like the
  /// slowest, or the fastest. `num`: pairs.
  std::optional<Spread> bisection_bytes_per_s = std::nullopt;
  std::optional<SerialPair> only_pair = std::nullopt;  ///< serial rounds
  std::optional<Spread> all_to_all = std::nullopt;     ///< before the round, where each round has one
};

/// What rank 0 does between the rounds, whose duration is reported.
enum class Phase : std::uint8_t {
  joining,     ///< until the ranks know each other
  placing,     ///< the rank layout
  shuffling,   ///< random order of rounds or ranks
  scheduling,  ///< the schedule and the opening of links
  finding_slowest,
  retesting,
  diagnosing,
  opening_file,
  writing,  ///< rows into the file
  closing_file,
  everything,
};

/// Shows progress; only rank 0 has one. What is not overridden shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Those whose rounds come next: one, or where rounds are sampled all sizes; round_done() is then of the last one.
  virtual void slices_begin(const std::vector<Slice>& /*slices*/, int /*first_number*/, int /*num_slices*/) {}
  virtual void round_done(const RoundNumbers& /*round*/, std::int64_t /*num_rounds*/, double /*elapsed_s*/) {}
  /// Nothing can be measured between these ranks; the run goes on without the pair.
  virtual void pair_lost(int /*low*/, int /*high*/, const std::string& /*why*/) {}
  virtual void retest_done(const SlowPair& /*pair*/) {}
  virtual void slice_ends(const SliceSummary& /*summary*/) {}
  virtual void phase_done(Phase /*phase*/, double /*seconds*/) {}
};

}  // namespace leadline::bench::link
