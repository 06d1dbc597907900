// SPDX-License-Identifier: Apache-2.0
// One rank's part in measuring a pair: both halves, the verification pass, and the statistics of its batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/link/message_buffers.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/request.hpp"
#include "bench/lost_pairs.hpp"
#include "cluster/cluster.hpp"
#include "core/error.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "model/samples.hpp"
#include "schedule/schedule.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::link {

/// The results of one rank in one pairing.
struct PairOutcome {
  PairRecord record;                 ///< towards the partner
  double loops_ns = 0;               ///< the loops that this side led, warm-up included
  bool led_first_half = false;       ///< when it led them; bidirectional: both sides at once, in the only half
  std::uint64_t verified_bytes = 0;  ///< compared with what the partner sent
  std::optional<Error> wrong_byte;   ///< the first that differs; the pair was measured all the same
};

/// What one rank has measured in a round of a shift.
struct ShiftOutcome {
  PairRecord sent;      ///< towards the rank that it sends to; no count = nothing
  PairRecord received;  ///< of what came from the other one; likewise
  double loops_ns = 0;  ///< all windows, until the later of both was done
};

class PairMeter {
 public:
  /// Allocates everything that measuring needs. Throws Error(something_missing).
  PairMeter(const LinkRequest& request, const Plan& plan, cluster::Cluster& cluster, transport::Transport& transport);

  /// Partners: opens the link, outside any timing. Throws cluster::ConnectionLost.
  void connect(std::int32_t partner);

  /// What goes through its attempt() may fail, and is left out then.
  LostPairs& lost_pairs() { return lost_pairs_; }

  /// Partners, with an open link: both ordered pairs; where `request.verify`, the verification pass first.
  PairOutcome measure(const schedule::Pairing& pairing, std::uint64_t message_size_bytes);

  /// Partners: one ordered pair; the record is the leading side's.
  PairRecord measure_one_way(int partner, kernel::Role role, std::uint64_t message_size_bytes);

  /// Collective over all ranks, which may rest: the links of a round of a shift are opened; then windows of messages go
  /// to one rank while others come from another one. Time of a message: that of its window over its messages. A rank
  /// whose link is lost goes on without it.
  ShiftOutcome measure_shift(std::optional<int> to, std::optional<int> from, std::uint64_t message_size_bytes);

  /// Collective over the ranks whose steps fit together, with open links: the median over `num_exchanges` (at most
  /// max_exchanges()) of the time that this rank's exchange with all its partners took, in ns.
  double measure_all_to_all(std::span<const std::int32_t> partners, std::uint64_t message_size_bytes,
                            std::size_t num_exchanges);
  std::size_t max_exchanges() const { return samples_.size(); }

 private:
  kernel::Exchange exchange(kernel::Role role, std::uint64_t message_size_bytes) const;
  std::span<Sample> samples() { return std::span(samples_).first(counts_.num_batches); }
  std::span<const Sample> samples() const { return std::span(samples_).first(counts_.num_batches); }
  void run(int partner, kernel::Role role, std::uint64_t message_size_bytes);
  void verify(const schedule::Pairing& pairing, std::uint64_t message_size_bytes, PairOutcome& outcome);
  void verify_half(int partner, kernel::Role role, std::uint64_t message_size_bytes, PairOutcome& outcome);
  void run_checked(int partner, kernel::Role role, std::uint64_t message_size_bytes, PairOutcome& outcome);
  PairRecord record_of(int partner);
  PairRecord record_of(std::span<const kernel::DirectionSample> windows,
                       std::uint64_t kernel::DirectionSample::*elapsed_ns);
  double own_loops_ns() const;  ///< warm-up and timed batches of the last measurement that this side led
  bool is_both_at_once(int partner) const;

  const LinkRequest& request_;
  cluster::Cluster& cluster_;
  transport::Transport& transport_;
  LostPairs lost_pairs_;
  MessageBuffers buffers_;
  MessageCounts counts_;  ///< of the last measurement
  std::vector<Sample> samples_;
  std::vector<kernel::DirectionSample> shift_samples_;  ///< --shift
  std::vector<double> times_ns_;
};

}  // namespace leadline::bench::link
