// SPDX-License-Identifier: Apache-2.0
// The ways to compute a CRC32C, each for itself; crc32c() of block_pattern.hpp picks the fastest that is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leadline::memory {

/// By tables, eight bytes a step: on any processor.
std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Whether this processor has the instructions of the next function. Elsewhere than on x86-64 and 64-bit ARM: false.
bool has_crc32c_instructions();

/// By SSE 4.2, or those of ARMv8, three streams at once. Only where has_crc32c_instructions().
std::uint32_t crc32c_by_instructions(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace leadline::memory
