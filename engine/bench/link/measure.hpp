// SPDX-License-Identifier: Apache-2.0
// The link test's measuring stage: the only one that touches the fabric.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/link/output.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/plan.hpp"
#include "cluster/cluster.hpp"
#include "model/link_request.hpp"
#include "model/link_result.hpp"

namespace leadline::bench::link {

/// What measuring works with. References outlive it.
struct Stage {
  const LinkRequest& request;
  const Plan& plan;
  cluster::Cluster& cluster;
  PairMeter& meter;
  RowStore& store;
  std::span<const std::uint32_t> host_of;  ///< host index by rank, as the result names hosts
  Progress* progress = nullptr;            ///< rank 0 only, and not with --quiet
};

struct Measured {
  std::vector<SliceSummary> slices;  ///< the same on every rank
  std::uint64_t verified_bytes = 0;
};

/// Collective. All repeats, sizes and rounds; each slice summarised and its slowest pairs retested.
/// Throws AgreedError where ranks agreed on an error (wrong byte, disk full); any other Error is this rank's own.
Measured measure(const Stage& stage);

}  // namespace leadline::bench::link
