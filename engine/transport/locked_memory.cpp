// SPDX-License-Identifier: Apache-2.0
// Asks the kernel.
#include "transport/locked_memory.hpp"

#include <sys/resource.h>

#include "core/units.hpp"

namespace leadline::transport {

std::string locked_memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_bytes(limit.rlim_cur);
}

Fact locked_memory() { return {"limit", "locked memory " + locked_memory_limit() + " (ulimit -l)"}; }

}  // namespace leadline::transport
