// SPDX-License-Identifier: Apache-2.0
// Second measurements of pairs, alone or under load: the slowest pairs of a slice, and the suspects of its diagnosis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/link/output.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/result.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/profile.hpp"
#include "model/diagnosis.hpp"
#include "model/provenance.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// Collective: the `count` ordered pairs with the greatest medians over all rows, slowest first, on every rank.
std::vector<SlowPair> slowest_pairs(cluster::Cluster& cluster, const PairRow& row, std::size_t count);

/// Collective: measures each of the slowest pairs again, one after the other, while all other ranks wait without using
/// their cores; fills in retest_time_ns (the median) and second_measurements, the same on every rank.
void retest(cluster::Cluster& cluster, PairMeter& meter, SliceSummary& summary, Progress* progress);

/// Measures pairs again, one after the other, until a time is over.
class RetestMeter {
 public:
  /// References outlive it. The time begins with the first pair, on rank 0's clock.
  RetestMeter(cluster::Cluster& cluster, PairMeter& meter, std::uint64_t message_size_bytes, double limit_s)
      : cluster_(cluster), meter_(meter), message_size_bytes_(message_size_bytes), limit_s_(limit_s) {}

  /// Collective: one ordered pair, the same on every rank; NaN once the time is over. Alone: all other ranks wait
  /// without using their cores. Under load: they measure each other, neighbours by rank.
  diagnosis::RetestTimes measure(int from, int to, diagnosis::Load load);

 private:
  cluster::Cluster& cluster_;
  PairMeter& meter_;
  std::uint64_t message_size_bytes_;
  double limit_s_;
  std::uint64_t begin_ns_ = 0;
  bool is_over_ = false;
};

/// What a diagnosis works with. References outlive the call.
struct DiagnosisStage {
  cluster::Cluster& cluster;
  PairMeter& meter;
  const diagnosis::Layout& layout;
  const DiagnosisSettings& settings;
  diagnosis::Load load = diagnosis::Load::concurrent;  ///< under which the test has measured
  bool is_round_trip = false;                          ///< see diagnosis::Question
  double retest_limit_s = 0;  ///< what has not been measured again by then stays so; rank 0's clock counts
  const diagnosis::SiteProfile* site_profile = nullptr;  ///< nullptr = none
  LineRate line_rate;
  std::span<const std::int32_t> rounds{};  ///< in which this rank met the others, from 1; 0 = in none; empty = unknown
};

/// Collective; the same on every rank but for names, which rank 0 has. Measures suspects and some other pairs again.
void diagnose(const DiagnosisStage& stage, const PairRow& row, SliceSummary& summary, std::uint64_t num_pairs);

}  // namespace leadline::bench::link
