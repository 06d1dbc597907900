// SPDX-License-Identifier: Apache-2.0
// What messages are filled with, and where the first byte is that is not as it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/named.hpp"

namespace leadline {

/// Contents of messages.
enum class Fill : std::uint8_t {
  zero,      ///< all bytes 0
  ramp,      ///< 0, 1, 2 ... shifted by a number that the key decides
  random,    ///< pseudo-random bytes that the key decides
  mersenne,  ///< output of the Mersenne Twister 19937 (64 bits), seeded from the key
};

const char* name_of(Fill fill);
std::span<const Named<Fill>> names_of(Fill any);

}  // namespace leadline

namespace leadline::memory {

/// Which message it is. Contents follow from it: those of a message, of the next one and of the answer to it differ
/// (except Fill::zero; Fill::ramp has only 256 of them, the others as good as never the same one twice).
struct PatternKey {
  std::uint32_t from = 0, to = 0;
  std::uint64_t message = 0;
  std::uint64_t seed = 1;  ///< of Fill::random and Fill::mersenne
};

/// Writes the pattern of `key` over all of `buffer`; byte i depends only on (fill, key, i).
void fill(std::span<std::byte> buffer, Fill fill, const PatternKey& key);

struct WrongByte {
  std::uint64_t byte = 0;
  std::uint8_t expected = 0, found = 0;
};

/// The first byte of `buffer` that differs from the pattern of `key`, if any. Allocates nothing.
std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> buffer, Fill fill, const PatternKey& key);

}  // namespace leadline::memory
