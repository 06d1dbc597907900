// SPDX-License-Identifier: Apache-2.0
// The diagnosis at the end of a slice: each rank has its row, and suspects are measured again.
#pragma once

#include "bench/link/output.hpp"
#include "bench/link/pair_meter.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "model/diagnosis.hpp"
#include "model/link_result.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// What a diagnosis works with. References outlive the call.
struct DiagnosisStage {
  cluster::Cluster& cluster;
  PairMeter& meter;
  const diagnosis::Layout& layout;
  const DiagnosisSettings& settings;
  diagnosis::Load load = diagnosis::Load::concurrent;  ///< under which the test has measured
  double retest_limit_s = 0;  ///< what has not been measured again by then stays so; rank 0's clock counts
};

/// Collective; the same on every rank but for names, which rank 0 has.
Diagnosis diagnose(const DiagnosisStage& stage, const PairRow& row, const Slice& slice, std::uint64_t num_pairs);

}  // namespace leadline::bench::link
