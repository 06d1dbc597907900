// SPDX-License-Identifier: Apache-2.0
// A whole transport out of a library of tagged messages: what all of them have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "kernel/all_to_all.hpp"
#include "kernel/loops.hpp"
#include "kernel/neighbours.hpp"
#include "kernel/verify.hpp"
#include "transport/tagged/peers.hpp"
#include "transport/tagged/port.hpp"
#include "transport/tagged/tagged_link.hpp"
#include "transport/tagged/tagged_messages.hpp"
#include "transport/tagged/tagged_neighbours.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::tagged {

/// What the library may go on to use after a loss.
template <Port P>
struct LinkParts {
  LinkParts(P& port, std::size_t message_size_bytes, const kernel::Buffers& buffers, std::size_t num_requests)
      : memory(port, message_size_bytes, buffers), requests(num_requests) {}

  BufferMemory<P> memory;
  std::vector<typename P::Request> requests;
};

/// See kernel/all_to_all.hpp.
template <Port P, WaitMode wait>
struct StepLinks {
  P& port;
  std::span<const LinkEndpoints<P>> ends;  ///< by step
  LinkParts<P>& parts;

  void start() const {}
  TaggedLink<P, wait> at(std::size_t step) { return {port, ends[step], parts.memory, parts.requests}; }
  std::uint64_t now_ns() const { return leadline::now_ns(); }
};

/// `P` has info() besides: what Transport::info() returns.
template <Port P>
class TaggedTransport final : public Transport {
 public:
  TaggedTransport(const Context& context, std::unique_ptr<P> port)
      : port_(std::move(port)),
        num_ranks_(context.size),
        wait_(context.wait),
        progress_counter_(context.progress_counter),
        peers_(*port_, context) {}

  TransportInfo info() const override { return port_->info(); }

  bool give_up_silent_links(std::chrono::milliseconds limit) override {
    if constexpr (P::survives_lost_partners) {
      if (!port_->tolerate_losses()) return false;
      peers_.give_up_silent_links(limit);
      return true;
    }
    return false;
  }
  void drop_link(int partner) override { peers_.drop(partner); }
  void replace_barrier(std::function<void()> barrier) override { barrier_ = std::move(barrier); }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Path path = partner == own() ? Path::to_self : Path::to_partner;
    with_link(exchange, partner, buffers,
              [&](auto& link) { kernel::run(link, exchange, path, buffers, samples, progress_counter_); });
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::TransferRanks ends =
        sends ? kernel::TransferRanks{own(), partner} : kernel::TransferRanks{partner, own()};
    std::optional<kernel::Mismatch> mismatch;
    with_link(exchange, partner, buffers,
              [&](auto& link) { mismatch = kernel::verify(link, exchange, ends, buffers, fill, progress_counter_); });
    return mismatch;
  }

  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    require_room_for(steps.message_size_bytes, *port_);
    peers_.require(steps.partners);
    std::vector<LinkEndpoints<P>> ends(steps.partners.size());
    for (std::size_t step = 0; step < ends.size(); ++step) {
      if (steps.partners[step] != kernel::AllToAllSteps::rests) ends[step] = ends_to(steps.partners[step]);
    }
    const auto parts = std::make_shared<LinkParts<P>>(*port_, steps.message_size_bytes, buffers, 2);
    const WithLossCheck check(*port_, peers_.loss_check(steps.partners));
    peers_.keep_if_lost(parts, parts->requests, [&] {
      with_constant([&](auto wait) {
        StepLinks<P, wait> links{*port_, ends, *parts};
        kernel::all_to_all(links, steps, buffers, samples, progress_counter_);
      });
    });
  }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    require_room_for(exchange.message_size_bytes, *port_);
    return with_constant([&](auto wait) {
      const auto links =
          std::make_shared<TaggedNeighbours<P, wait>>(*port_, peers_, num_ranks_, exchange, buffers, barrier_);
      const WithLossCheck check(*port_, peers_.loss_check(links->ranks()));
      auto mismatch = kernel::run_neighbours(*links, exchange, own(), buffers, task, progress_counter_);
      if (!links->lost_links().empty()) {
        peers_.keep(links);
        throw LinksLost(links->lost_links());
      }
      return mismatch;
    });
  }

  std::unique_ptr<Messages> messages(std::span<const std::int32_t> partners, std::size_t max_tickets) override {
    peers_.require(partners);
    return std::make_unique<TaggedMessages<P>>(*port_, peers_, partners, max_tickets, wait_);
  }

  void progress() noexcept override {
    try {
      port_->progress();
    } catch (const Error&) {
      // Any error will show in the next message, where it can be reported.
    }
  }

  bool needs_progress() const noexcept override { return true; }

 private:
  Connected open_link(int partner, Deadline deadline) override { return peers_.connect(partner, deadline); }

  int own() const { return peers_.own_rank(); }
  LinkEndpoints<P> ends_to(int partner) const { return {peers_.at(partner), own(), partner}; }

  template <class Use>
  auto with_constant(const Use& use) {
    if (wait_ == WaitMode::spin) return use(std::integral_constant<WaitMode, WaitMode::spin>{});
    return use(std::integral_constant<WaitMode, WaitMode::yield>{});
  }

  template <class Use>
  void with_link(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers, const Use& use) {
    require_room_for(exchange.message_size_bytes, *port_);
    const auto parts = std::make_shared<LinkParts<P>>(*port_, exchange.message_size_bytes, buffers,
                                                      2 * kernel::num_in_flight(exchange));
    const WithLossCheck check(*port_, peers_.loss_check(std::span(&partner, 1)));
    peers_.keep_if_lost(parts, parts->requests, [&] {
      with_constant([&](auto wait) {
        TaggedLink<P, wait> link(*port_, ends_to(partner), parts->memory, parts->requests);
        use(link);
      });
    });
  }

  std::unique_ptr<P> port_;
  int num_ranks_;
  WaitMode wait_;
  ProgressCounter& progress_counter_;
  Peers<P> peers_;
  std::function<void()> barrier_;  ///< empty: over links
};

}  // namespace leadline::transport::tagged
