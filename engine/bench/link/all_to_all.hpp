// SPDX-License-Identifier: Apache-2.0
// All ranks that take part exchange messages with all others, pair by pair, without a pause between the steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/link/pair_meter.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "cluster/cluster.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::link {

/// Pairwise exchange: in step i every rank exchanges one message each way with its partner of round i of the
/// tournament.
class AllToAllMeter {
 public:
  /// Local. Keeps 4 bytes for every rank that takes part, and nothing where the request asks for no all-to-all.
  AllToAllMeter(const LinkRequest& request, const Plan& plan, cluster::Cluster& cluster, PairMeter& meter);

  /// Partners: opens the links that are not open yet, outside any timing.
  void connect();

  struct Outcome {
    Spread time_ns;                ///< over the ranks: each rank's median over the exchanges
    std::optional<double> own_ns;  ///< this rank's; empty = it takes no part
  };

  /// Collective, all ranks: `num_exchanges` times after one untimed exchange.
  Outcome measure(const Slice& slice, std::size_t num_exchanges);

  std::uint64_t message_size_bytes(const Slice& slice) const;

 private:
  const LinkRequest& request_;
  cluster::Cluster& cluster_;
  PairMeter& meter_;
  std::vector<std::int32_t> partners_;  ///< by step; empty = this rank takes no part
};

}  // namespace leadline::bench::link
