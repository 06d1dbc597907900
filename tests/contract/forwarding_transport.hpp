// SPDX-License-Identifier: Apache-2.0
// A transport that passes every call on to another one, for those that change or watch some of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace leadline::contract {

class ForwardingTransport : public transport::Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<transport::Transport> inner) : inner_(std::move(inner)) {}

  TransportInfo info() const override { return inner_->info(); }
  bool give_up_silent_links(std::chrono::milliseconds limit) override { return inner_->give_up_silent_links(limit); }
  void replace_barrier(std::function<void()> barrier) override { inner_->replace_barrier(std::move(barrier)); }
  void drop_link(int partner) override { inner_->drop_link(partner); }
  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    inner_->run(exchange, partner, buffers, samples);
  }
  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    return inner_->verify(exchange, partner, buffers, fill);
  }
  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    inner_->all_to_all(steps, buffers, samples);
  }
  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    return inner_->exchange_with_neighbours(exchange, buffers, task);
  }
  bool has_streams_in_step() const noexcept override { return inner_->has_streams_in_step(); }
  std::unique_ptr<transport::Messages> messages(std::span<const std::int32_t> partners,
                                                std::size_t max_tickets) override {
    return inner_->messages(partners, max_tickets);
  }
  std::unique_ptr<transport::Collectives> collectives(std::span<const std::int32_t> group) override {
    return inner_->collectives(group);
  }
  std::vector<transport::Resent> resent() override { return inner_->resent(); }
  void progress() noexcept override { inner_->progress(); }
  bool needs_progress() const noexcept override { return inner_->needs_progress(); }
  std::string simulated_host(int rank) const override { return inner_->simulated_host(rank); }

 protected:
  transport::Transport& inner() { return *inner_; }

  transport::Connected open_link(int partner, Deadline deadline) override {
    const auto before = inner_->connection_times().num_opened;
    inner_->connect(partner, deadline);
    return inner_->connection_times().num_opened > before ? transport::Connected::anew : transport::Connected::again;
  }

 private:
  std::unique_ptr<transport::Transport> inner_;
};

}  // namespace leadline::contract
