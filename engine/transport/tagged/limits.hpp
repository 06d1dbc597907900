// SPDX-License-Identifier: Apache-2.0
// Bounds on messages.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

/// Throws Error(something_missing) where the library carries no message of this size.
template <Port P>
void require_room_for(std::uint64_t message_size_bytes, const P& port) {
  if (message_size_bytes <= port.max_message_bytes()) return;
  throw Error(ExitStatus::something_missing,
              "a message of " + format_bytes(message_size_bytes) + " is longer than the library carries",
              "at most " + std::to_string(port.max_message_bytes()) + " B", "Choose a smaller --message-size");
}

/// A bound for people; the greatest number is none.
inline std::string format_bound(std::uint64_t bytes) {
  return bytes >= UINT64_MAX / 2 ? "unlimited" : format_bytes(bytes);
}

}  // namespace leadline::transport::tagged
