// SPDX-License-Identifier: Apache-2.0
// How many steps, how many tickets.
#include "bench/io/funnel.hpp"

#include <algorithm>

#include "bench/io/buffers.hpp"
#include "bench/io/funnel_io_rank.hpp"
#include "bench/io/funnel_sender.hpp"
#include "bench/reductions.hpp"
#include "kernel/barrier.hpp"

namespace leadline::bench::io {

std::uint64_t greatest_number_of_steps(PhaseWork& work, std::uint64_t own) {
  const Recorder::AgreementTimer timer(work.recorder);
  return merged_over_ranks(work.stage.cluster, own, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
}

std::size_t num_tickets(const IoRequest& request, const Plan& plan, int rank) {
  if (!plan.layout.is_opener(rank)) return SenderTickets(ring_depth(request)).num();
  return IoRankTickets(static_cast<std::size_t>(plan.num_buffers), slots_in_use(request, plan, rank),
                       plan.layout.senders(rank).size())
      .num();
}

std::vector<OpenerBarrier::Round> OpenerBarrier::rounds_of(const std::vector<std::int32_t>& openers,
                                                           std::int32_t rank) {
  const auto index = std::lower_bound(openers.begin(), openers.end(), rank) - openers.begin();
  std::vector<Round> rounds;
  for (const kernel::BarrierRound& round :
       kernel::barrier_rounds(static_cast<int>(index), static_cast<int>(openers.size()))) {
    rounds.push_back({openers[static_cast<std::size_t>(round.to)], openers[static_cast<std::size_t>(round.from)]});
  }
  return rounds;
}

OpenerBarrier::OpenerBarrier(const FunnelLinks& links, std::int32_t rank, Ticket first_ticket)
    : rounds_(rounds_of(links.meeting_io_ranks, rank)), messages_(links.messages), first_ticket_(first_ticket) {
  const auto drop_without_link = [&](std::optional<std::int32_t>& partner) {
    if (!std::ranges::binary_search(links.partners, *partner)) partner.reset();
  };
  for (Round& round : rounds_) {
    drop_without_link(round.to);
    drop_without_link(round.from);
  }
}

std::vector<std::int32_t> OpenerBarrier::partners(const std::vector<std::int32_t>& openers, std::int32_t rank) {
  std::vector<std::int32_t> partners;
  for (const Round& round : rounds_of(openers, rank)) {
    partners.push_back(*round.to);
    partners.push_back(*round.from);
  }
  return partners;
}

}  // namespace leadline::bench::io
