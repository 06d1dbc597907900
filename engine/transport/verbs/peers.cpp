// SPDX-License-Identifier: Apache-2.0
// Meets partners, connects queue pairs with theirs, and passes the first message each way.
#include "transport/verbs/peers.hpp"

#include <fmt/format.h>

#include <cassert>
#include <chrono>
#include <utility>

#include "core/error.hpp"
#include "transport/address_exchange.hpp"
#include "transport/verbs/flow.hpp"

namespace leadline::transport::verbs {
namespace {

/// Longer than any run: a wait under the watch.
constexpr std::chrono::hours for_ever(24 * 365);

FlowPlan greeting() {
  FlowPlan plan;
  plan.in.indexes = {MessageAddresses::nowhere};
  plan.num_in = 1;
  return plan;
}

}  // namespace

Peers::Peers(Adapter& adapter, const Context& context, Service service)
    : adapter_(adapter),
      own_rank_(context.rank),
      service_(service),
      sockets_(context.rank, context.size, context.rendezvous, link_limit()) {}

Connected Peers::connect(int partner, Deadline deadline) {
  if (partner == own_rank_) return open_loop();
  const std::chrono::milliseconds patience(deadline.left_ms());
  if (sockets_.connect(partner, deadline) == Connected::again) return Connected::again;
  if (gives_up_silent_links()) deadline = Deadline::after(patience);  // the partner may have come late
  open_.erase(partner);
  close_lost();
  open(partner, deadline);
  return Connected::anew;
}

void Peers::drop(int partner) {
  sockets_.drop(partner);
  close_lost();
}

Peer& Peers::at(int partner) const {
  Peer* const found = find(partner);
  assert(found != nullptr && "connect() comes before everything else");
  return *found;
}

Peer* Peers::find(int partner) const {
  const auto found = open_.find(partner);
  return found != open_.end() ? found->second.peer.get() : nullptr;
}

std::string Peers::agree(int partner, std::string_view told) const {
  if (partner == own_rank_) return std::string(told);
  try {
    return exchange_addresses(sockets_.ends(partner).out, partner, told, Deadline::after(for_ever));
  } catch (const cluster::ConnectionLost&) {
    adapter_.give_up(at(partner));  // its receives are posted
    throw;
  }
}

void Peers::open(int partner, Deadline deadline) {
  Open made(adapter_, adapter_.make_peer(partner));
  Peer& peer = *made.peer;
  peer.socket = sockets_.ends(partner).out;
  Flow flow(adapter_, peer, greeting());
  const Address own = peer.pair.address(adapter_.port());
  const Address other = Address::from(exchange_addresses(peer.socket, partner, own.bytes(), deadline));
  if (const std::string why = why_unreachable(own, other); !why.empty()) {
    throw Error(ExitStatus::something_missing, fmt::format("no connection to rank {} over verbs", partner), why,
                "Choose other ports by --transport-option device=NAME or --interface");
  }
  const int problem = peer.pair.connect(adapter_.port(), other, service_);
  const std::string own_trouble = problem == 0 ? "" : system_error_text(problem);
  const std::string trouble = exchange_addresses(peer.socket, partner, own_trouble, deadline);
  if (!own_trouble.empty() || !trouble.empty()) {
    throw Error(ExitStatus::run_failed,
                fmt::format("no connection to rank {} over {}", partner, adapter_.port().text()),
                own_trouble.empty() ? fmt::format("there: {}", trouble) : own_trouble,
                "Can the two addresses reach each other?");
  }
  flow.post_empty();
  const std::uint64_t which = flow.ask();
  if (!adapter_.wait_until([&] { return flow.has_come(which) && peer.num_unreaped == 0; }, deadline)) {
    throw_late(partner);
  }
  open_.emplace(partner, std::move(made));
}

Connected Peers::open_loop() {
  if (open_.contains(own_rank_)) return Connected::again;
  Open made(adapter_, adapter_.make_peer(own_rank_));
  made.peer->loop_end = adapter_.make_pair();
  const Port& port = adapter_.port();
  QueuePair& sender = made.peer->pair;
  QueuePair& receiver = made.peer->loop_end;
  int problem = sender.connect(port, receiver.address(port), service_);
  if (problem == 0) problem = receiver.connect(port, sender.address(port), service_);
  if (problem != 0) {
    throw Error(ExitStatus::run_failed, fmt::format("cannot open a loop over {}", port.text()),
                system_error_text(problem));
  }
  open_.emplace(own_rank_, std::move(made));
  return Connected::anew;
}

void Peers::close_lost() {
  std::erase_if(open_, [&](const auto& one) { return one.first != own_rank_ && !sockets_.is_kept(one.first); });
}

}  // namespace leadline::transport::verbs
