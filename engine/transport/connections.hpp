// SPDX-License-Identifier: Apache-2.0
// What it costs a rank to open its links.
#pragma once

#include <cstdint>

namespace leadline::transport {

enum class Connected : std::uint8_t {
  again,  ///< the link was open at both ends
  anew,
};

/// Of one rank, over all links that it has opened; each end of a link counts its own.
struct ConnectionTimes {
  std::uint64_t num_opened = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  std::int32_t longest_partner = -1;
};

}  // namespace leadline::transport
