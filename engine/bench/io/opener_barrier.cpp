// SPDX-License-Identifier: Apache-2.0
// The rounds of the kernel's barrier, with openers for ranks.
#include "bench/io/opener_barrier.hpp"

#include <algorithm>

#include "kernel/barrier.hpp"

namespace leadline::bench::io {

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

OpenerBarrier::OpenerBarrier(const std::vector<std::int32_t>& openers, std::int32_t rank, transport::Messages& messages,
                             Ticket first_ticket)
    : rounds_(rounds_of(openers, rank)), messages_(messages), first_ticket_(first_ticket) {}

std::vector<std::int32_t> OpenerBarrier::partners(const std::vector<std::int32_t>& openers, std::int32_t rank) {
  std::vector<std::int32_t> partners;
  for (const Round& round : rounds_of(openers, rank)) {
    partners.push_back(round.to);
    partners.push_back(round.from);
  }
  return partners;
}

}  // namespace leadline::bench::io
