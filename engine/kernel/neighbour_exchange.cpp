// SPDX-License-Identifier: Apache-2.0
// Whom a rank must be linked with for barriers.
#include "kernel/neighbour_exchange.hpp"

#include <algorithm>

#include "kernel/barrier.hpp"

namespace leadline::kernel {

std::vector<std::int32_t> barrier_partners(int rank, int size) {
  std::vector<std::int32_t> partners;
  for (const BarrierRound& round : barrier_rounds(rank, size)) {
    partners.push_back(round.to);
    partners.push_back(round.from);
  }
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

}  // namespace leadline::kernel
