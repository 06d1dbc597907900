// SPDX-License-Identifier: Apache-2.0
// The module "tcp": messages over the kernel's TCP sockets.
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "kernel/run.hpp"
#include "kernel/verify.hpp"
#include "transport/link_sockets.hpp"
#include "transport/socket_link.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::tcp {
namespace {

std::string congestion_control() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  return std::getline(file, name) ? name : "";
}

bool on_one_host(std::span<const std::uint32_t> host_of) {
  return std::adjacent_find(host_of.begin(), host_of.end(), std::not_equal_to<>()) == host_of.end();
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(const Context& context)
      : own_rank_(context.rank),
        wait_(context.wait),
        device_(on_one_host(context.host_of) ? "lo" : ""),
        pulse_(context.pulse),
        sockets_(context.rank, context.rendezvous, link_limit()) {}

  TransportInfo info() const override {
    TransportInfo info;
    info.name = "tcp";
    info.library = "Linux sockets";
    if (const std::string control = congestion_control(); !control.empty()) info.library += " (" + control + ")";
    info.device = device_;
    return info;
  }

  void connect(int partner, Deadline deadline) override { sockets_.connect(partner, deadline); }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Path path = partner == own_rank_ ? Path::to_self : Path::to_partner;
    std::byte stand_in_out{}, stand_in_in{};
    kernel::Exchange on_the_wire = exchange;
    kernel::Buffers memory = buffers;
    if (exchange.message_size_bytes == 0) {
      // A stream has no empty messages: one byte is the least that can be waited for.
      on_the_wire.message_size_bytes = 1;
      memory = {&stand_in_out, &stand_in_in};
    }
    with_link(partner, [&](auto& link) { kernel::run(link, on_the_wire, path, memory, samples, pulse_); });
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    if (exchange.message_size_bytes == 0) return std::nullopt;
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::Ends ends = sends ? kernel::Ends{own_rank_, partner} : kernel::Ends{partner, own_rank_};
    std::optional<kernel::Mismatch> mismatch;
    with_link(partner, [&](auto& link) { mismatch = kernel::verify(link, exchange, ends, buffers, fill, pulse_); });
    return mismatch;
  }

 private:
  template <class Use>
  void with_link(int partner, const Use& use) {
    if (wait_ == WaitMode::block) return with_link_that<WaitMode::block>(partner, use);
    if (wait_ == WaitMode::yield) return with_link_that<WaitMode::yield>(partner, use);
    with_link_that<WaitMode::spin>(partner, use);
  }

  template <WaitMode wait, class Use>
  void with_link_that(int partner, const Use& use) {
    SocketLink<wait> link(sockets_.ends(partner), partner);
    use(link);
  }

  int own_rank_;
  WaitMode wait_;
  std::string device_;
  Pulse& pulse_;
  LinkSockets sockets_;
};

constexpr Module module{
    .refuses_wait = [](WaitMode) { return std::string(); },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      if (!context.argument.empty()) {
        throw Error(ExitStatus::bad_command_line, "the transport tcp takes no argument",
                    "\"" + context.argument + "\" stands behind its name");
      }
      return std::make_unique<TcpTransport>(context);
    },
};

}  // namespace
}  // namespace leadline::transport::tcp

extern "C" [[gnu::visibility("default")]] const leadline::transport::Module* leadline_transport_module() {
  return &leadline::transport::tcp::module;
}
