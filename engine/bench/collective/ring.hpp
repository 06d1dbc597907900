// SPDX-License-Identifier: Apache-2.0
// Collective operations out of the messages of any transport: rings, and for alltoall pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/collective/plan.hpp"
#include "cluster/rendezvous.hpp"
#include "core/error.hpp"
#include "core/progress_counter.hpp"
#include "model/request.hpp"
#include "transport/collectives.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::collective {

/// An operation was given up: a link was lost, or nothing has come for too long.
class GivenUp : public Error {
 public:
  using Error::Error;
};

/// Whom a rank of the group exchanges messages with in these operations; each once.
std::vector<std::int32_t> ring_partners(std::span<const Operation> operations, const Group& group, std::int32_t rank);

/// How a ring waits.
struct RingWait {
  WaitMode mode = WaitMode::spin;
  std::optional<double> patience_s;  ///< without any message; std::nullopt = for ever
};

/// Blocks are in the order of the group. An allreduce is a reduce-scatter and an allgather around the ring (Patarasu
/// and Yuan 2009), each with n - 1 steps; alltoall has n - 1 steps, in which rank i sends to i + s and receives from
/// i - s. A large message goes in pieces, which are added up while the next ones travel. Memory: two blocks.
class Ring final : public transport::Collectives {
 public:
  /// Local; links to ring_partners() are open already. References outlive it.
  Ring(transport::Transport& transport, std::span<const std::int32_t> partners, Group group, std::int32_t rank,
       const RingWait& wait, ProgressCounter& progress_counter);

  /// Throws GivenUp; then what is posted is still under way.
  void run(const transport::CollectiveCall& call, std::uint64_t num) override;

  std::span<const cluster::ConnectionLost> lost_links() const { return messages_->lost_links(); }

 private:
  static constexpr std::size_t most_pieces = 8;

  struct Outgoing {
    std::int32_t to;
    std::span<const float> numbers;
  };
  struct Incoming {
    std::int32_t from;
    std::span<float> numbers;
    const float* addend = nullptr;  ///< what is added to them on arrival
  };

  void run_once(Operation operation, std::size_t num, const float* send, float* receive);
  void allreduce(std::size_t num, const float* send, float* receive);
  void reduce_scatter(std::size_t num, const float* send, float* receive);
  void allgather(std::size_t num, float* receive);
  void alltoall(std::size_t num, const float* send, float* receive);
  void pass(const Outgoing& outgoing, const Incoming& incoming);
  transport::Messages::Ticket next_ticket();

  std::int32_t rank_at(std::size_t place) const { return group_[place % group_.size()]; }
  std::int32_t next() const { return rank_at(place_ + 1); }
  std::int32_t previous() const { return rank_at(place_ + group_.size() - 1); }
  std::size_t behind(std::size_t steps) const { return (place_ + 2 * group_.size() - steps) % group_.size(); }

  Group group_;
  std::size_t place_;
  RingWait wait_;
  ProgressCounter& progress_counter_;
  std::array<std::vector<float>, 2> partial_sums_;  ///< outlive the messages
  std::unique_ptr<transport::Messages> messages_;
};

}  // namespace leadline::bench::collective
