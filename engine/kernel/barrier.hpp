// SPDX-License-Identifier: Apache-2.0
// A barrier of all ranks out of single tokens, for transports that have none of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leadline::kernel {

/// Whom a rank sends a token to in a round of the barrier, and from whom it then awaits one.
struct BarrierRound {
  std::int32_t to = 0, from = 0;
};

/// Dissemination (Hensgen, Finkel, Manber 1988): after round k a rank knows that the 2^(k+1) ranks up to itself have
/// come. From one rank to another goes at most one token a barrier.
std::vector<BarrierRound> barrier_rounds(int rank, int size);

/// The ranks that `rank` exchanges tokens with in a dissemination barrier (Hensgen, Finkel, Manber 1988), ascending,
/// each once: rank +- 2^k modulo size, for all 2^k < size. Links to them must be open where a transport has no barrier.
std::vector<std::int32_t> barrier_partners(int rank, int size);

/// Tokens are sent without waiting for whoever gets them, and arrive in the order in which they are sent.
template <class T>
concept TokenLinks = requires(T& links, std::size_t round) {
  links.send_token(round);
  links.await_token(round);
};

/// All ranks, with their num_rounds = barrier_rounds().size().
template <TokenLinks T>
void disseminate(T& links, std::size_t num_rounds) {
  for (std::size_t round = 0; round < num_rounds; ++round) {
    links.send_token(round);
    links.await_token(round);
  }
}

}  // namespace leadline::kernel
