// SPDX-License-Identifier: Apache-2.0
// What the link test asks of whoever keeps and shows its results while it runs; result/ and output/ implement it.
#pragma once

#include <cstdint>
#include <string>

#include "model/provenance.hpp"
#include "model/result.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// Keeps rows while the run goes on. Every rank has one. All members may throw Error (disk full ...): the caller
/// agrees on it with the others at the next barrier.
class RowStore {
 public:
  virtual ~RowStore() = default;

  /// Collective: there will be at least `num_repeats` repeats; called once before the first message (num_repeats
  /// from the request) and again if minimum time asks for more.
  virtual void reserve_repeats(int num_repeats) = 0;

  /// Collective: this rank's row of the slice as far as it is known, holes being 0. May come several times.
  virtual void write(const Slice& slice, const PairRow& row) = 0;
};

/// Numbers of one round, over all ranks; times per message in ns over the ordered pairs of the round.
struct RoundNumbers {
  std::int64_t round = 0;  ///< 1-based position in the order of the run
  std::uint64_t num_pairs = 0;
  double time_ns_min = 0, time_ns_mean = 0, time_ns_max = 0;
};

/// Shows progress; only rank 0 has one.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void slice_begins(const Slice& slice, int slice_number, int num_slices) = 0;
  virtual void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) = 0;
  virtual void retest_done(const SlowPair& pair) = 0;
  virtual void slice_ends(const SliceSummary& summary) = 0;
};

}  // namespace leadline::bench::link
