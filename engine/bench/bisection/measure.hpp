// SPDX-License-Identifier: Apache-2.0
// Measures pattern after pattern until the interval is narrow enough: the one stage that touches the fabric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bisection/output.hpp"
#include "bench/bisection/plan.hpp"
#include "bench/bisection/request.hpp"
#include "bench/bisection/result.hpp"
#include "bench/lost_pairs.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/observations.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::bisection {

/// This rank's memory for messages: one to send from, one to receive into.
class MessageBuffers;

struct Stage {
  const BisectionRequest& request;
  const Plan& plan;
  cluster::Cluster& cluster;
  transport::Transport& transport;
  MessageBuffers& buffers;
  PatternStore& store;
  Progress* progress = nullptr;  ///< rank 0 only
};

/// The same on all ranks, but for `observed`, and for begin_s and measuring_s, which are by their own clocks.
struct Measured {
  std::vector<PatternSummary> patterns;
  std::vector<BaselineSample> baseline;
  std::vector<BisectionSummary> sizes;
  std::vector<SlowConnection> slow_connections;
  std::vector<std::vector<diagnosis::Observation>>
      observed;  ///< of `sizes`, by random patterns: what this rank received
  std::uint64_t verified_bytes = 0;
  Losses losses;
};

/// For the watch: "bisection 1 MiB, pattern 17 (random)", or that pairs alone are measured behind it.
enum class Activity : std::uint8_t { pattern, baseline };
std::string step_text(const PatternPosition& position, Activity activity);

/// Collective. Links to a pattern's partners are opened before it, outside any timing. A pattern in which a rank or a
/// pair of ranks is lost is measured again without it (bench/lost_pairs). A wrong byte (--verify) is agreed on by all
/// ranks after the pattern in which it came, and so is that no pair is left for a random pattern:
/// AgreedError(run_failed); everything measured before is with the store and in `measured`.
void measure(const Stage& stage, Measured& measured);

}  // namespace leadline::bench::bisection
