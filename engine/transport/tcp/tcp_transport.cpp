// SPDX-License-Identifier: Apache-2.0
// The transport tcp: messages over the kernel's TCP sockets.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "kernel/all_to_all.hpp"
#include "kernel/loops.hpp"
#include "kernel/neighbours.hpp"
#include "kernel/verify.hpp"
#include "transport/link_sockets.hpp"
#include "transport/socket_link.hpp"
#include "transport/socket_neighbours.hpp"
#include "transport/socket_traffic.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::tcp {
namespace {

std::string congestion_control() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  return std::getline(file, name) ? name : "";
}

std::optional<DataNetwork> chosen_network(const Context& context) {
  if (context.interface.empty()) return std::nullopt;
  return DataNetwork(context.interface);
}

/// A stream has no empty messages: one byte is sent instead.
struct OnTheWire {
  OnTheWire(std::size_t message_size_bytes, const kernel::Buffers& given) : buffers(given) {
    if (message_size_bytes == 0) buffers = {&stand_in_out, &stand_in_in};
    size = std::max<std::size_t>(message_size_bytes, 1);
  }
  OnTheWire(const OnTheWire&) = delete;
  OnTheWire& operator=(const OnTheWire&) = delete;

  std::byte stand_in_out{}, stand_in_in{};
  kernel::Buffers buffers;
  std::size_t size = 0;
};

/// See kernel/all_to_all.hpp.
template <WaitMode wait>
struct StepSockets {
  std::span<const std::int32_t> partners;
  const std::vector<LinkEnds>& ends;
  Posted& posted;

  void start() const {}
  SocketLink<wait> at(std::size_t step) const { return {ends[step], partners[step], posted}; }
  std::uint64_t now_ns() const { return leadline::now_ns(); }
};

/// Calls `use` with the wait mode as a constant.
template <class Use>
auto with_constant(WaitMode mode, const Use& use) {
  if (mode == WaitMode::block) return use(std::integral_constant<WaitMode, WaitMode::block>{});
  if (mode == WaitMode::yield) return use(std::integral_constant<WaitMode, WaitMode::yield>{});
  return use(std::integral_constant<WaitMode, WaitMode::spin>{});
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(const Context& context)
      : own_rank_(context.rank),
        num_ranks_(context.size),
        wait_(context.wait),
        device_(is_on_one_host(context) ? "lo" : ""),
        progress_counter_(context.progress_counter),
        sockets_(context.rank, context.size, context.rendezvous, link_limit(), chosen_network(context)) {
    if (!context.interface.empty()) device_ = cluster::local_address(context.interface).device;
  }

  TransportInfo info() const override {
    TransportInfo info;
    info.name = "tcp";
    info.library = "Linux sockets";
    if (const std::string control = congestion_control(); !control.empty()) info.library += " (" + control + ")";
    info.device = device_;
    return info;
  }

  bool give_up_silent_links(std::chrono::milliseconds limit) override {
    sockets_.give_up_silent_links(limit);
    return true;
  }
  std::vector<Resent> resent() override { return sockets_.resent(); }
  void drop_link(int partner) override { sockets_.drop(partner); }
  void replace_barrier(std::function<void()> barrier) override { barrier_ = std::move(barrier); }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Path path = partner == own_rank_ ? Path::to_self : Path::to_partner;
    OnTheWire on_the_wire(exchange.message_size_bytes, buffers);
    kernel::Exchange never_empty = exchange;
    never_empty.message_size_bytes = on_the_wire.size;
    with_link(exchange, partner, [&](auto& link) {
      kernel::run(link, never_empty, path, on_the_wire.buffers, samples, progress_counter_);
    });
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    if (exchange.message_size_bytes == 0) return std::nullopt;
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::TransferRanks ends =
        sends ? kernel::TransferRanks{own_rank_, partner} : kernel::TransferRanks{partner, own_rank_};
    std::optional<kernel::Mismatch> mismatch;
    with_link(exchange, partner,
              [&](auto& link) { mismatch = kernel::verify(link, exchange, ends, buffers, fill, progress_counter_); });
    return mismatch;
  }

  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    OnTheWire on_the_wire(steps.message_size_bytes, buffers);
    const kernel::AllToAllSteps never_empty{steps.partners, on_the_wire.size};
    const std::vector<LinkEnds> ends = sockets_.all_ends(steps.partners);
    Posted posted(1);
    with_constant(wait_, [&](auto wait) {
      StepSockets<wait> links{steps.partners, ends, posted};
      kernel::all_to_all(links, never_empty, on_the_wire.buffers, samples, progress_counter_);
    });
  }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    const Neighbourhood around(exchange, own_rank_, num_ranks_, sockets_, barrier_);
    return with_constant(wait_, [&](auto wait) {
      SocketNeighbours<wait> links(around, exchange, buffers, completions_for(task));
      auto mismatch = kernel::run_neighbours(links, exchange, own_rank_, buffers, task, progress_counter_);
      if (!links.lost_links().empty()) throw LinksLost(links.lost_links());
      return mismatch;
    });
  }

  std::unique_ptr<Messages> messages(std::span<const std::int32_t> partners, std::size_t max_tickets) override {
    return std::make_unique<SocketMessages>(partners, max_tickets, sockets_, wait_);
  }

 private:
  Connected open_link(int partner, Deadline deadline) override { return sockets_.connect(partner, deadline); }

  template <class Use>
  void with_link(const kernel::Exchange& exchange, int partner, const Use& use) {
    Posted posted(kernel::num_in_flight(exchange));
    with_constant(wait_, [&](auto wait) {
      SocketLink<wait> link(sockets_.ends(partner), partner, posted);
      use(link);
    });
  }

  int own_rank_, num_ranks_;
  WaitMode wait_;
  std::string device_;
  ProgressCounter& progress_counter_;
  LinkSockets sockets_;
  std::function<void()> barrier_;  ///< empty: over links
};

std::vector<Fact> facts() {
  return {{"library", "Linux sockets (" + congestion_control() + ")"},
          {"limit", std::to_string(link_limit()) + " links at once (ulimit -n, less what others need)"}};
}

}  // namespace

extern constexpr Module module{
    .settings = {},
    .facts = &facts,
    .refuses_wait = [](WaitMode) { return std::string(); },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : "sockets take nothing but ordinary memory";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<TcpTransport>(context);
    },
};

}  // namespace leadline::transport::tcp
