// SPDX-License-Identifier: Apache-2.0
// Bounds on messages and on the memory they lie in.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::tagged {

/// Throws Error(something_missing) where the library carries no message of this size.
template <Port P>
void require_room_for(std::uint64_t message_size_bytes, const P& port) {
  if (message_size_bytes <= port.max_message_bytes()) return;
  throw Error(ExitStatus::something_missing,
              "a message of " + format_bytes(message_size_bytes) + " is longer than the library carries",
              "at most " + std::to_string(port.max_message_bytes()) + " B", "Choose a smaller --message-size");
}

/// How much memory a process may lock, which bounds what a library registers with an adapter.
inline Fact locked_memory() {
  rlimit limit{};
  const bool is_bound = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return {"limit", "locked memory " + (is_bound ? format_bytes(limit.rlim_cur) : "unlimited") + " (ulimit -l)"};
}

/// A bound for people; the greatest number is none.
inline std::string format_bound(std::uint64_t bytes) {
  return bytes >= UINT64_MAX / 2 ? "unlimited" : format_bytes(bytes);
}

}  // namespace leadline::transport::tagged
