// SPDX-License-Identifier: Apache-2.0
// Works out what comes from each neighbour in which order, and agrees with all of them that it may come.
#include "transport/verbs/verbs_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "kernel/neighbours.hpp"
#include "transport/buffers.hpp"

namespace leadline::transport::verbs {
namespace {

/// The slots that messages of one exchange land in, by partner, each in the order in which they come.
using Arrivals = std::map<std::int32_t, std::vector<std::uint32_t>>;

std::uint64_t num_exchanges(const kernel::NeighbourExchange& exchange, const kernel::NeighbourTask& task) {
  if (const auto* timed = std::get_if<kernel::TimedExchanges>(&task))
    return exchange.num_warmup + timed->samples.size();
  if (const auto* verified = std::get_if<kernel::VerifiedExchanges>(&task))
    return exchange.num_warmup + verified->samples.size();
  if (const auto* directions = std::get_if<kernel::TimedDirections>(&task))
    return exchange.num_warmup + directions->samples.size();
  return 1;
}

/// As kernel::post_step() asks for them: what is to be answered comes first. In a stream one channel's come in a row.
Arrivals arrivals_of(const kernel::NeighbourExchange& exchange, const kernel::NeighbourTask& task) {
  Arrivals arrivals;
  const auto* streamed = std::get_if<kernel::TimedStreams>(&task);
  const std::size_t num_messages = streamed != nullptr ? streamed->num_messages : 1;
  for (const kernel::NeighbourStep& step : kernel::steps_of(exchange)) {
    const auto channels = exchange.channels.subspan(step.begin, step.end - step.begin);
    const auto add = [&](bool is_answered) {
      for (const kernel::NeighbourChannel& channel : channels) {
        if (!kernel::receives(channel.part) || (channel.part == kernel::Part::answers) != is_answered) continue;
        auto& slots = arrivals[channel.partner];
        slots.insert(slots.end(), num_messages, channel.slot);
      }
    };
    add(true);
    add(false);
  }
  return arrivals;
}

std::uint32_t num_slots(const kernel::NeighbourExchange& exchange) {
  std::uint32_t last = 0;
  for (const kernel::NeighbourChannel& channel : exchange.channels) last = std::max(last, channel.slot);
  return last + 1;
}

}  // namespace

VerbsNeighbours::VerbsNeighbours(Adapter& adapter, const Peers& peers, int num_ranks,
                                 const kernel::NeighbourExchange& exchange, const kernel::NeighbourBuffers& buffers,
                                 const kernel::NeighbourTask& task, std::function<void()> instead)
    : adapter_(adapter),
      goes_on_(peers.gives_up_silent_links()),
      barrier_(std::move(instead)),
      memory_out_(adapter.memory(buffers.send, reach(exchange, buffers))),
      memory_in_(adapter.memory(buffers.receive, reach(exchange, buffers))),
      awaited_(exchange.channels.size()),
      sending_(exchange.channels.size()) {
  adapter.refuse_too_long(exchange.message_size_bytes);
  std::vector<kernel::BarrierRound> rounds;
  if (!barrier_) rounds = kernel::barrier_rounds(peers.own_rank(), num_ranks);
  const Arrivals arrivals = arrivals_of(exchange, task);
  std::map<std::int32_t, Flow*> flow_to;
  for (const kernel::NeighbourChannel& channel : exchange.channels) flow_to[channel.partner] = nullptr;
  for (const kernel::BarrierRound& round : rounds) flow_to[round.to] = flow_to[round.from] = nullptr;
  std::vector<std::int32_t> partners;
  for (const auto& [partner, flow] : flow_to) partners.push_back(partner);
  peers.require(partners);

  for (auto& [partner, flow] : flow_to) {
    Peer* const peer = peers.find(partner);
    if (peer == nullptr) {
      lost_links_.emplace_back(partner, fmt::format("the link to rank {} is not open", partner));
      continue;
    }
    FlowPlan plan{.message_size_bytes = exchange.message_size_bytes, .send_key = memory_out_.local_key()};
    plan.in = {.begin = reinterpret_cast<std::uintptr_t>(buffers.receive),
               .stride_bytes = buffers.stride_bytes,
               .num = num_slots(exchange),
               .key = memory_in_.local_key()};
    if (const auto found = arrivals.find(partner); found != arrivals.end()) plan.in.indexes = found->second;
    const bool sends_tokens = std::any_of(rounds.begin(), rounds.end(),
                                          [&, from = partner](const auto& round) { return round.from == from; });
    if (sends_tokens) {
      plan.in.indexes.insert(plan.in.indexes.begin(), MessageAddresses::nowhere);
      plan.in.indexes.push_back(MessageAddresses::nowhere);
    }
    plan.num_in = plan.in.indexes.size() * num_exchanges(exchange, task);
    plan.num_ahead = adapter.receives_each(flow_to.size());
    const std::string encoded = plan.in.encoded(memory_in_.remote_key());
    try {
      Flow& made = *flows_.emplace_back(std::make_unique<Flow>(adapter, *peer, std::move(plan)));
      const std::string decoded = peers.agree(partner, encoded);
      if (adapter.takes_writes()) made.write_to(MessageAddresses::decoded(decoded));
      flow = &made;
    } catch (const cluster::ConnectionLost& lost) {
      lose(lost);
    }
  }
  for (const kernel::NeighbourChannel& channel : exchange.channels) {
    channels_.push_back({flow_to[channel.partner], buffers.send + channel.slot * buffers.stride_bytes});
  }
  for (const kernel::BarrierRound& round : rounds) rounds_.push_back({flow_to[round.to], flow_to[round.from]});
}

void VerbsNeighbours::lose(const cluster::ConnectionLost& lost) {
  if (!goes_on_) throw lost;
  lost_links_.push_back(lost);
  const auto forget = [&](Flow*& flow) {
    if (flow != nullptr && flow->peer().rank == lost.partner()) flow = nullptr;
  };
  for (Channel& channel : channels_) forget(channel.flow);
  for (Round& round : rounds_) {
    forget(round.to);
    forget(round.from);
  }
}

}  // namespace leadline::transport::verbs
