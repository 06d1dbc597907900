// SPDX-License-Identifier: Apache-2.0
// How large a network may be, whatever describes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leadline::network {

/// A list of all names has to fit into the memory.
inline constexpr std::size_t most_hosts = std::size_t{1} << 24;

/// Groups that have hops between them, which take the square of it in bytes.
inline constexpr std::size_t most_hop_groups = 8192;
inline constexpr std::size_t most_hops = 255;  // a byte each

/// Where a number of a host, switch or group is not known, or there is none.
inline constexpr std::uint32_t nobody = UINT32_MAX;

}  // namespace leadline::network
