// SPDX-License-Identifier: Apache-2.0
// How many steps, how many tickets.
#include "bench/io/funnel.hpp"

#include <algorithm>

#include "bench/io/buffers.hpp"
#include "bench/io/funnel_io_rank.hpp"
#include "bench/io/funnel_sender.hpp"
#include "bench/reductions.hpp"

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

}  // namespace leadline::bench::io
