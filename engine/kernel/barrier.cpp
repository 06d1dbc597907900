// SPDX-License-Identifier: Apache-2.0
// Who exchanges tokens with whom in a dissemination barrier.
#include "kernel/barrier.hpp"

#include <algorithm>

namespace leadline::kernel {

std::vector<BarrierRound> barrier_rounds(int rank, int size) {
  std::vector<BarrierRound> rounds;
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    rounds.push_back({static_cast<std::int32_t>((rank + distance) % size),
                      static_cast<std::int32_t>((rank - distance + size) % size)});
  }
  return rounds;
}

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
