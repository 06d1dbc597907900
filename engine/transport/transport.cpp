// SPDX-License-Identifier: Apache-2.0
// What all transports have in common: the time that opening links costs, and who is where.
#include "transport/transport.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <functional>

#include "core/clock.hpp"
#include "core/units.hpp"

namespace leadline::transport {

bool is_on_one_host(const Context& context) {
  const auto& hosts = context.host_of;
  return std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>()) == hosts.end();
}

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

std::string locked_memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_bytes(limit.rlim_cur);
}

Fact locked_memory() { return {"limit", "locked memory " + locked_memory_limit() + " (ulimit -l)"}; }

}  // namespace leadline::transport
