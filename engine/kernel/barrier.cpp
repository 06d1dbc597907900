// SPDX-License-Identifier: Apache-2.0
// Who exchanges tokens with whom in a dissemination barrier.
#include "kernel/barrier.hpp"

namespace leadline::kernel {

std::vector<BarrierRound> barrier_rounds(int rank, int size) {
  std::vector<BarrierRound> rounds;
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    rounds.push_back({static_cast<std::int32_t>((rank + distance) % size),
                      static_cast<std::int32_t>((rank - distance + size) % size)});
  }
  return rounds;
}

}  // namespace leadline::kernel
