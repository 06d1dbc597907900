// SPDX-License-Identifier: Apache-2.0
// The steps of a pairwise exchange out of the tournament, and the spread of its time over the ranks.
#include "bench/link/all_to_all.hpp"

#include <algorithm>

#include "bench/link/tally.hpp"
#include "kernel/exchange.hpp"
#include "schedule/schedule.hpp"

namespace leadline::bench::link {

AllToAllMeter::AllToAllMeter(const LinkRequest& request, const Plan& plan, cluster::Cluster& cluster, PairMeter& meter)
    : request_(request), cluster_(cluster), meter_(meter) {
  if (request.all_to_all == AllToAll::none) return;
  const schedule::Schedule tournament(all_to_all_spec(request, plan.rank_layout));
  partners_.reserve(static_cast<std::size_t>(tournament.num_rounds()));
  for (std::int64_t step = 0; step < tournament.num_rounds(); ++step) {
    const auto pairing = tournament.pairing(cluster.rank(), step);
    partners_.push_back(pairing ? pairing->partner : kernel::AllToAllSteps::rests);
  }
  const auto rests = [](std::int32_t partner) { return partner == kernel::AllToAllSteps::rests; };
  if (std::all_of(partners_.begin(), partners_.end(), rests)) partners_.clear();
}

void AllToAllMeter::connect() {
  for (const std::int32_t partner : partners_) {
    if (partner != kernel::AllToAllSteps::rests) meter_.connect(partner);
  }
}

std::uint64_t AllToAllMeter::message_size_bytes(const Slice& slice) const {
  return request_.all_to_all_size_bytes > 0 ? request_.all_to_all_size_bytes : slice.message_size_bytes;
}

AllToAllMeter::Outcome AllToAllMeter::measure(const Slice& slice, std::size_t num_exchanges) {
  cluster_.barrier();
  meter_.lost_pairs().note_lost_ranks();
  for (std::int32_t& partner : partners_) {
    if (partner != kernel::AllToAllSteps::rests && meter_.lost_pairs().is_lost(partner)) {
      partner = kernel::AllToAllSteps::rests;
    }
  }
  Tally own;
  Outcome outcome;
  if (!partners_.empty()) {
    outcome.own_ns = meter_.measure_all_to_all(partners_, message_size_bytes(slice), num_exchanges);
    own.add(*outcome.own_ns);
  }
  outcome.time_ns = spread_of(close_round(cluster_, own, std::nullopt));
  return outcome;
}

}  // namespace leadline::bench::link
