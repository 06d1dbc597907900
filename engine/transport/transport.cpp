// SPDX-License-Identifier: Apache-2.0
// Takes the time that opening links costs.
#include "transport/transport.hpp"

#include "core/clock.hpp"

namespace leadline::transport {

void Transport::connect(int partner, Deadline deadline) {
  const std::uint64_t start_ns = now_ns();
  if (open_link(partner, deadline) == Connected::again) return;
  const std::uint64_t elapsed_ns = now_ns() - start_ns;
  ++connection_times_.num_opened;
  connection_times_.total_ns += elapsed_ns;
  if (elapsed_ns <= connection_times_.longest_ns) return;
  connection_times_.longest_ns = elapsed_ns;
  connection_times_.longest_partner = partner;
}

}  // namespace leadline::transport
