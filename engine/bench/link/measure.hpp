// SPDX-License-Identifier: Apache-2.0
// The link test's measuring stage: the only one that touches the fabric.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/link/output.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "bench/lost_pairs.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/profile.hpp"

namespace leadline::bench::link {

/// What measuring works with. References outlive it.
struct Stage {
  const LinkRequest& request;
  const Plan& plan;
  cluster::Cluster& cluster;
  PairMeter& meter;
  RowStore& store;
  std::span<const std::uint32_t> host_of;                ///< host index by rank, as the result names hosts
  Progress* progress = nullptr;                          ///< rank 0 only, and not with --quiet
  const diagnosis::Layout* layout = nullptr;             ///< for the diagnosis of each slice; nullptr = there is none
  const diagnosis::SiteProfile* site_profile = nullptr;  ///< likewise; nullptr = none
  LineRate line_rate = {};                               ///< of the adapters
  std::uint64_t begin_ns = 0;                            ///< when the time of --budget began; rank 0's clock counts
};

struct Measured {
  std::vector<SliceSummary> slices;  ///< the same on every rank
  std::uint64_t verified_bytes = 0;
  std::int64_t num_rounds = 0;  ///< of the last slice
  Losses losses;                ///< pairs that were left out
};

/// Collective. All repeats, sizes and rounds; each slice summarised and its slowest pairs retested.
/// Throws AgreedError where ranks agreed on an error (wrong byte, disk full), with the slices that are complete in
/// `measured`; any other Error is this rank's own.
void measure(const Stage& stage, Measured& measured);

}  // namespace leadline::bench::link
