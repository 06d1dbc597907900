// SPDX-License-Identifier: Apache-2.0
// The interfaces by which the congestion test stores and shows its results while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/congestion/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::congestion {

/// A test of one cell in one round.
struct RoundNumbers {
  Times alone, loaded;
};

/// A load of one cell in one round.
struct LoadNumbers {
  double bytes_per_s = 0, fairness = 0;
};

/// A victim's own times of a test, of all rounds so far.
struct VictimNumbers {
  Times alone, loaded;
};

/// Times of a test so far, of all victims: counts by stats::TimeHistogram.
struct Distribution {
  stats::TimeHistogram::Counts alone{}, loaded{};
};

/// What a round has brought. Spans are valid during the call; of cells in their order, and within a cell of tests.
struct RoundRow {
  std::uint32_t round = 0;
  std::span<const RoundNumbers> tests;          ///< rank 0
  std::span<const LoadNumbers> loads;           ///< rank 0, by cell
  std::span<const Distribution> distributions;  ///< rank 0
  std::span<const VictimNumbers> own;           ///< a victim's
};

/// Keeps rounds while the run goes on. Every rank has one. All members may throw Error (disk full ...): the caller
/// agrees on it with the others.
class RoundStore {
 public:
  virtual ~RoundStore() = default;

  /// As other benchmarks' stores: but here rank 0 has the numbers.
  virtual bool any_rank_can_finish() const { return false; }

  /// Collective: a round is over.
  virtual void write(const RoundRow& row) = 0;
};

using CongestionFile = result::ResultFile<RoundStore, CongestionResult>;

/// Collective: creates and checks the file before the first message and writes what is known: `so_far` is request,
/// provenance and who plays which part. Throws on every rank the same Error, as open_link_file does.
std::unique_ptr<CongestionFile> open_congestion_file(cluster::Cluster& cluster, const CongestionResult& so_far,
                                                     const result::RunFileSetup& setup);

/// Shows progress; only rank 0 has one. What is not overridden shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `index`: of the phase in its round.
  virtual void phase_begins(std::uint32_t /*round*/, std::size_t /*index*/, const std::string& /*what*/) {}
  virtual void round_ends(std::uint32_t /*round*/, double /*elapsed_s*/) {}
  virtual void pair_lost(int /*low*/, int /*high*/, const std::string& /*why*/) {}
};

}  // namespace leadline::bench::congestion
