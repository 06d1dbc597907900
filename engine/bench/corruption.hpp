// SPDX-License-Identifier: Apache-2.0
// The words that all benchmarks have for a byte which did not arrive as it was sent.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace leadline::bench {

inline constexpr const char* corruption_hint =
    "Data is corrupted on the way: do not trust this link before memory, cable and driver are checked";

inline std::string expected_and_found(std::uint8_t expected, std::uint8_t found) {
  return fmt::format("expected 0x{:02x}, found 0x{:02x}", expected, found);
}

}  // namespace leadline::bench
