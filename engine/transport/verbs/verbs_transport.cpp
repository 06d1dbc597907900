// SPDX-License-Identifier: Apache-2.0
// The transport verbs: messages over reliable connections of InfiniBand and RoCE adapters.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "kernel/all_to_all.hpp"
#include "kernel/loops.hpp"
#include "kernel/neighbours.hpp"
#include "kernel/verify.hpp"
#include "transport/buffers.hpp"
#include "transport/transport.hpp"
#include "transport/verbs/device_text.hpp"
#include "transport/verbs/flow.hpp"
#include "transport/verbs/peers.hpp"
#include "transport/verbs/verbs_messages.hpp"
#include "transport/verbs/verbs_neighbours.hpp"

namespace leadline::transport::verbs {

/// Whether messages come as soon as their receives are posted, or each when the receiver says that its memory is ready.
enum class Pace { free, on_request };

/// See kernel/link.hpp. The flow outlives it; so it is cheap to make.
template <Pace pace>
class VerbsLink {
 public:
  explicit VerbsLink(Flow& flow) : flow_(flow) {}

  void send(const std::byte* data, std::size_t) {
    if constexpr (pace == Pace::on_request) flow_.await_next();
    if (flow_.is_copied()) return flow_.post(data, Notice::when_due);
    flow_.post(data, Notice::always);
    flow_.await_sends();
  }

  void receive(std::byte*, std::size_t) {
    if constexpr (pace == Pace::on_request) flow_.post_empty();
    flow_.await_next();
  }

  void post_send(const std::byte* data, std::size_t) { flow_.post(data, Notice::always); }
  void post_receive(std::byte*, std::size_t) { flow_.ask(); }

  void complete_posted() {
    flow_.await_arrivals();
    flow_.await_sends();
  }

  void send_receipt() { flow_.post_empty(); }
  void await_receipt() { flow_.await_next(); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  Flow& flow_;
};

namespace {

/// The memory of a measurement's buffers.
struct BufferMemory {
  BufferMemory(Adapter& adapter, std::size_t message_size_bytes, const kernel::Buffers& buffers)
      : out(adapter.memory(buffers.send, reach(message_size_bytes, buffers))),
        in(adapter.memory(buffers.receive, reach(message_size_bytes, buffers))) {
    adapter.refuse_too_long(message_size_bytes);
  }

  Memory out, in;
};

/// The receive buffers in turn, from the first on.
MessageAddresses places_of(const kernel::Buffers& buffers, const Memory& memory) {
  return {.begin = reinterpret_cast<std::uintptr_t>(buffers.receive),
          .stride_bytes = buffers.stride_bytes,
          .num = std::max(buffers.num, 1u),
          .step = 1 % std::max(buffers.num, 1u),
          .key = memory.local_key(),
          .indexes = {0}};
}

/// What comes in and goes out in one measurement.
FlowPlan plan_of_run(const kernel::Exchange& exchange, Path path, std::size_t num_samples, MessageAddresses messages) {
  FlowPlan plan{.message_size_bytes = exchange.message_size_bytes, .in = std::move(messages)};
  plan.num_in = plan.num_out = exchange.num_warmup + exchange.num_messages;
  const bool is_stream = path != Path::to_self && exchange.direction == Direction::unidirectional;
  if (is_stream && exchange.role == kernel::Role::lead) {
    plan.in.indexes = {MessageAddresses::nowhere};  // receipts
    plan.num_in = num_samples + (exchange.num_warmup > 0 ? 1 : 0);
  }
  return plan;
}

FlowPlan plan_of_verification(const kernel::Exchange& exchange, Path path, MessageAddresses messages) {
  FlowPlan plan{.message_size_bytes = exchange.message_size_bytes, .in = std::move(messages)};
  plan.in.num = 1;
  plan.in.step = 0;
  plan.num_in = plan.num_out = exchange.num_messages;
  // Requests for the next message.
  if (path != Path::to_self && exchange.role == kernel::Role::lead) plan.in.indexes = {MessageAddresses::nowhere};
  return plan;
}

/// See kernel/all_to_all.hpp. A partner may be ahead: its message lands while those of earlier steps are still to come.
/// In a single buffer the last step's would not stay the last, so the others have a buffer of their own.
class StepFlows {
 public:
  StepFlows(Adapter& adapter, const Peers& peers, const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
            std::size_t num_exchanges)
      : memory_(adapter, steps.message_size_bytes, buffers), flow_of_step_(steps.partners.size()) {
    std::map<std::int32_t, std::vector<std::uint32_t>> messages;  // of one exchange, by partner
    std::uint32_t num_messages = 0;
    std::int32_t last = kernel::AllToAllSteps::rests;
    for (const std::int32_t partner : steps.partners) {
      if (partner == kernel::AllToAllSteps::rests) continue;
      messages[partner].push_back(num_messages++ % std::max(buffers.num, 1u));
      last = partner;
    }
    if (buffers.num <= 1 && messages.size() > 1) {
      other_.resize(steps.message_size_bytes);
      other_memory_ = adapter.memory(other_.data(), other_.size());
    }
    std::map<std::int32_t, Flow*> flow_to;
    for (const auto& [partner, indexes] : messages) {
      const bool is_elsewhere = !other_.empty() && partner != last;
      const Memory& memory = is_elsewhere ? other_memory_ : memory_.in;
      FlowPlan plan{.message_size_bytes = steps.message_size_bytes, .in = places_of(buffers, memory)};
      if (is_elsewhere) plan.in.begin = reinterpret_cast<std::uintptr_t>(other_.data());
      plan.in.step = num_messages % plan.in.num;
      plan.in.indexes = indexes;
      plan.num_in = indexes.size() * num_exchanges;
      plan.num_ahead = adapter.receives_each(messages.size());
      plan.send_key = memory_.out.local_key();
      flow_to[partner] = open(adapter, peers, partner, std::move(plan), memory);
    }
    for (std::size_t step = 0; step < flow_of_step_.size(); ++step) {
      if (steps.partners[step] != kernel::AllToAllSteps::rests) flow_of_step_[step] = flow_to[steps.partners[step]];
    }
  }

  void start() const {}
  VerbsLink<Pace::free> at(std::size_t step) const { return VerbsLink<Pace::free>(*flow_of_step_[step]); }
  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  Flow* open(Adapter& adapter, const Peers& peers, int partner, FlowPlan plan, const Memory& memory) {
    const std::string encoded = plan.in.encoded(memory.remote_key());
    Flow& flow = *flows_.emplace_back(std::make_unique<Flow>(adapter, peers.at(partner), std::move(plan)));
    const std::string decoded = peers.agree(partner, encoded);
    if (adapter.takes_writes()) flow.write_to(MessageAddresses::decoded(decoded));
    return &flow;
  }

  BufferMemory memory_;
  std::vector<std::byte> other_;
  Memory other_memory_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<Flow*> flow_of_step_;
};

class VerbsTransport final : public Transport {
 public:
  VerbsTransport(const Context& context, Port port, Adapter::Writes writes, Service service)
      : num_ranks_(context.size),
        progress_counter_(context.progress_counter),
        adapter_(std::move(port), context.wait, writes),
        peers_(adapter_, context, service) {}

  TransportInfo info() const override {
    TransportInfo info;
    info.name = "verbs";
    info.library = library_name();
    const std::string driver = driver_of(adapter_.port().device());
    if (!driver.empty()) info.library += " (" + driver + ")";
    info.device = adapter_.port().text();
    return info;
  }

  bool give_up_silent_links(std::chrono::milliseconds limit) override {
    peers_.give_up_silent_links(limit);
    return true;
  }
  void drop_link(int partner) override { peers_.drop(partner); }
  void replace_barrier(std::function<void()> barrier) override { barrier_ = std::move(barrier); }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Path path = path_to(partner);
    const BufferMemory memory(adapter_, exchange.message_size_bytes, buffers);
    with_flow(partner, memory, plan_of_run(exchange, path, samples.size(), places_of(buffers, memory.in)),
              [&](Flow& flow) {
                VerbsLink<Pace::free> link(flow);
                kernel::run(link, exchange, path, buffers, samples, progress_counter_);
              });
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    const Path path = path_to(partner);
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::TransferRanks ends =
        sends ? kernel::TransferRanks{own(), partner} : kernel::TransferRanks{partner, own()};
    const BufferMemory memory(adapter_, exchange.message_size_bytes, buffers);
    std::optional<kernel::Mismatch> mismatch;
    with_flow(partner, memory, plan_of_verification(exchange, path, places_of(buffers, memory.in)), [&](Flow& flow) {
      VerbsLink<Pace::on_request> link(flow);
      mismatch = kernel::verify(link, exchange, ends, buffers, fill, progress_counter_);
    });
    return mismatch;
  }

  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    peers_.require(steps.partners);
    StepFlows links(adapter_, peers_, steps, buffers, samples.size() + 1);
    kernel::all_to_all(links, steps, buffers, samples, progress_counter_);
  }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    VerbsNeighbours links(adapter_, peers_, num_ranks_, exchange, buffers, task, barrier_);
    auto mismatch = kernel::run_neighbours(links, exchange, own(), buffers, task, progress_counter_);
    links.await_sends();
    if (!links.lost_links().empty()) throw LinksLost(links.lost_links());
    return mismatch;
  }

  std::unique_ptr<Messages> messages(std::span<const std::int32_t> partners, std::size_t max_tickets) override {
    peers_.require(partners);
    return std::make_unique<VerbsMessages>(adapter_, peers_, partners, max_tickets);
  }

 private:
  Connected open_link(int partner, Deadline deadline) override { return peers_.connect(partner, deadline); }

  int own() const { return peers_.own_rank(); }
  Path path_to(int partner) const { return partner == own() ? Path::to_self : Path::to_partner; }

  /// The receives are posted, here and there; after `use` nothing is under way.
  template <class Use>
  void with_flow(int partner, const BufferMemory& memory, FlowPlan plan, const Use& use) {
    plan.send_key = memory.out.local_key();
    const std::string encoded = plan.in.encoded(memory.in.remote_key());
    Flow flow(adapter_, peers_.at(partner), std::move(plan));
    const std::string decoded = peers_.agree(partner, encoded);
    if (adapter_.takes_writes()) flow.write_to(MessageAddresses::decoded(decoded));
    use(flow);
    flow.await_sends();
  }

  int num_ranks_;
  ProgressCounter& progress_counter_;
  Adapter adapter_;
  Peers peers_;
  std::function<void()> barrier_;  ///< empty: over links
};

constexpr Setting settings[] = {
    {"device", "NAME", "device as \"rdma link\" lists it: mlx5_0, rxe0 ... Default: the first with an active port"},
    {"port", "N", "port of the device, from 1 on. Default: the first that is active"},
    {"gid-index", "N",
     "address to use, also on InfiniBand. Default: RoCE v2 with an IPv4 address; on InfiniBand the LID"},
    {"mtu", "BYTES", "256, 512, 1024, 2048 or 4096. Default: what both ports have"},
    {"write", "yes|no", "RDMA writes with immediate data in place of sends. Default: no"},
    {"service-level", "N", "0 to 15. Default: 0"},
    {"traffic-class", "N", "of routed packets, 0 to 255; on RoCE the byte with DSCP. Default: 0"},
    {"ack-timeout", "N", "1 to 31: 4.096 us * 2^N until a packet is sent again. Default: 16, 0.27 s"},
    {"retries", "N", "0 to 7: how often that is done until the pair is lost. Default: 6"},
};

std::optional<std::uint32_t> mtu_in(const Settings& given) {
  const auto bytes = given.number("mtu", 256, 4096);
  if (!bytes) return std::nullopt;
  if (!std::has_single_bit(*bytes)) {
    throw Error(ExitStatus::bad_command_line, fmt::format("bad value \"{}\" for the setting mtu", *bytes),
                "it must be 256, 512, 1024, 2048 or 4096");
  }
  return static_cast<std::uint32_t>(*bytes);
}

std::unique_ptr<Transport> open(const Context& context) {
  const Settings& given = context.settings;
  PortChoice choice{.device = given.text("device"), .mtu_bytes = mtu_in(given), .interface = context.interface};
  if (const auto port = given.number("port", 1, 255)) choice.port = static_cast<std::uint8_t>(*port);
  if (const auto index = given.number("gid-index", 0, 255)) choice.gid_index = static_cast<std::uint32_t>(*index);
  const auto writes = given.is_on("write") ? Adapter::Writes::yes : Adapter::Writes::no;
  Service service;
  const auto set = [&](const char* name, std::uint32_t least, std::uint32_t most, std::uint8_t& value) {
    if (const auto number = given.number(name, least, most)) value = static_cast<std::uint8_t>(*number);
  };
  set("service-level", 0, 15, service.level);
  set("traffic-class", 0, 255, service.traffic_class);
  set("ack-timeout", 1, 31, service.ack_timeout);
  set("retries", 0, 7, service.num_retries);
  return std::make_unique<VerbsTransport>(context, open_port(choice), writes, service);
}

}  // namespace

extern constexpr Module module{
    .settings = settings,
    .load = [] { functions = &opened_for_ever<Functions>(); },
    .facts = &device_facts,
    .refuses_wait = [](WaitMode) { return std::string(); },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host
                 ? ""
                 : "adapters read and write the memory of GPUs by GPUDirect, which is not used";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = &open,
};

}  // namespace leadline::transport::verbs
