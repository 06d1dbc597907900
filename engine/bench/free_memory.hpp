// SPDX-License-Identifier: Apache-2.0
// How much memory a process can still get here.
#pragma once

#include <cstdint>

namespace leadline::bench {

/// Bytes: free memory of the host, or what its control group leaves.
std::uint64_t available_memory_bytes();

}  // namespace leadline::bench
