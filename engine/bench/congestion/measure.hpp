// SPDX-License-Identifier: Apache-2.0
// Measures round after round, each cell alone and under load: the one stage that touches the fabric.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/congestion/impact.hpp"
#include "bench/congestion/output.hpp"
#include "bench/congestion/plan.hpp"
#include "bench/congestion/request.hpp"
#include "bench/congestion/result.hpp"
#include "bench/congestion/totals.hpp"
#include "bench/congestion/traffic.hpp"
#include "bench/lost_pairs.hpp"
#include "cluster/cluster.hpp"
#include "memory/buffer.hpp"
#include "network/network.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::congestion {

/// What all large messages of this rank are sent from and received into.
class MessageMemory {
 public:
  /// Throws Error(something_missing) where there is not so much.
  explicit MessageMemory(const CongestionRequest& request);

  LargeMessages large(std::uint64_t size_bytes) const {
    return {send_.span().first(size_bytes), receive_.span().first(size_bytes)};
  }

 private:
  memory::Buffer send_, receive_;
};

/// One cell's rounds, by test and by what is shared; on rank 0.
using RoundsOfTests = std::array<std::array<std::vector<RoundTimes>, num_shared>, num_tests>;

struct LoadRounds {
  std::vector<double> bytes_per_s, fairness;
  Recovery recovery;
};

struct Stage {
  const CongestionRequest& request;
  const Plan& plan;
  const network::Network& network;  ///< of the hosts by number; no levels: unknown
  cluster::Cluster& cluster;
  transport::Transport& transport;
  MessageMemory& memory;
  RoundStore& store;
  Progress* progress = nullptr;  ///< rank 0 only
};

/// On rank 0, but for `losses`, which all ranks have.
struct Measured {
  std::vector<RoundsOfTests> tests;                    ///< by cell
  std::vector<LoadRounds> loads;                       ///< likewise
  std::vector<std::vector<double>> alone_bytes_per_s;  ///< by load, of each round in which it was measured alone
  std::uint32_t num_rounds = 0;                        ///< that were measured to the end
  Losses losses;
};

/// Collective. A rank or a link that is lost ends it: the rounds before are there, `losses` says what was lost.
void measure(const Stage& stage, Measured& measured);

/// Rank 0: what the result says of it.
std::vector<Impact> impacts_of(const CongestionRequest& request, const Plan& plan, const Measured& measured);
std::vector<LoadSummary> loads_of(const CongestionRequest& request, const Plan& plan, const Measured& measured);

}  // namespace leadline::bench::congestion
