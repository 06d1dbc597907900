// SPDX-License-Identifier: Apache-2.0
// Measures the cells of a plan, or loads them for a duration: the one stage that touches the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/lost_pairs.hpp"
#include "bench/reductions.hpp"
#include "bench/topology/neighbourhood.hpp"
#include "bench/topology/output.hpp"
#include "bench/topology/plan.hpp"
#include "bench/topology/request.hpp"
#include "bench/topology/result.hpp"
#include "cluster/cluster.hpp"
#include "diagnosis/exchange.hpp"
#include "diagnosis/observations.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"
#include "transport/transport.hpp"

namespace leadline::bench {
class MessageSlots;
}
namespace leadline::bench::topology {

struct Stage {
  const TopologyRequest& request;
  const Plan& plan;
  cluster::Cluster& cluster;
  transport::Transport& transport;
  MessageSlots& slots;  ///< this rank's memory for all messages of the run
  CellStore& store;
  Progress* progress = nullptr;  ///< rank 0 only
  /// Collective, on all ranks alike: which pairs to measure alone, by what every rank has observed.
  std::function<diagnosis::PairsToMeasure(std::span<const diagnosis::Observation> own)> pairs_to_measure{};
};

/// The same on all ranks, but for CellSummary::measuring_s.
struct Measured {
  std::vector<CellSummary> cells;
  std::vector<PairAlone> pairs_alone;
  std::vector<LoadPoint> load;
  std::vector<LoadStall> stalls;  ///< of the load
  std::uint64_t verified_bytes = 0;
  Losses losses;
  std::vector<std::vector<diagnosis::Observation>> observed;  ///< this rank's, of each topology with each size
};

/// For the watch: "topology star2, 16 KiB, repeat 1".
std::string step_text(const Stage& stage, const Cell& cell);

/// Collective. Opens the links first. A cell in which a rank or a pair of ranks is lost is measured again without
/// its channels (bench/lost_pairs); a load goes on without them. A wrong byte is agreed on by all ranks after the cell
/// in which it came, or at the end of the load (with --stop-at-first at the end of the slice in which it came):
/// AgreedError(run_failed) that names rank, host, sender, exchange, message size and byte; everything measured before
/// is with the store and in `measured`.
void measure(const Stage& stage, Measured& measured);

/// The links of a run, and what of them is lost.
class RunLinks {
 public:
  /// Collective: opens them, outside any timing. References outlive it.
  RunLinks(const Stage& stage, Measured& measured);

  LostPairs& lost_pairs() { return lost_pairs_; }

  /// Collective: what may be repeated, since a rank or a pair of ranks gets lost in it; whether that was so.
  bool run_step(const std::function<void()>& step);

  /// Local, after a collective: into `measured`; whether there are more.
  bool note_losses();

 private:
  const Stage& stage_;
  LostPairs lost_pairs_;
  Measured& measured_;
};

/// All collective members are part of a step of LostPairs::until_nothing_is_lost().
class CellExchange {
 public:
  /// Local. References outlive it. Channels to lost partners are not served.
  CellExchange(const Stage& stage, LostPairs& lost_pairs, const Cell& cell);

  const std::vector<schedule::Channel>& channels() const { return channels_; }
  std::size_t num_served() const { return num_served_; }  ///< of the channels

  /// Bytes that this rank receives in one exchange.
  std::uint64_t received_bytes() const;

  /// Collective: an exchange a sample, after `num_warmup` untimed ones.
  void run(std::uint64_t num_warmup, std::span<kernel::ExchangeSample> samples);

  /// Collective: an exchange a sample, the first of them being number `first_exchange` of those that are verified in
  /// this run: contents follow from it. Returns the first wrong byte of this rank.
  std::optional<WrongByte> verify(std::uint64_t first_exchange, std::span<kernel::ExchangeSample> samples);

  /// Collective: so many exchanges; by channel, how long after the opening barrier its message was there, the median;
  /// 0 where none was received.
  std::vector<double> trace(std::uint64_t num_traced) { return trace(timed_, num_traced); }

  /// Collective: while all others rest, how long after the opening barrier the first of the two has the answer of the
  /// other, the median over so many exchanges; 0 on all other ranks, and where the pair is lost.
  double round_trip_alone(const diagnosis::OrderedPair& pair, std::uint64_t num_traced);

 private:
  std::vector<double> trace(const Neighbourhood& active, std::uint64_t num_traced);
  WrongByte described(const kernel::NeighbourMismatch& mismatch) const;

  Neighbourhood served(SlotUse use) const;

  const Stage& stage_;
  LostPairs& lost_pairs_;
  Cell cell_;
  const schedule::Topology& topology_;
  std::vector<schedule::Channel> channels_;
  std::size_t num_served_;
  Neighbourhood timed_;
  std::optional<Neighbourhood> verified_;  ///< where slots lie otherwise: made when it is needed
};

}  // namespace leadline::bench::topology
