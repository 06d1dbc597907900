// SPDX-License-Identifier: Apache-2.0
// The message buffers of one rank: their distance and contents, as slots, and the words for a corrupted byte.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernel/neighbour_exchange.hpp"
#include "memory/buffer.hpp"
#include "memory/pattern.hpp"
#include "model/request.hpp"

namespace leadline::bench {

std::uint64_t largest_message_bytes(const RunRequest& request);

/// From the beginning of one of `num` buffers to that of the next, so that each begins on a page; one alone needs no
/// distance. At least 1.
std::size_t stride_of(std::uint32_t num, std::uint64_t largest_message_bytes);

/// Writes the pattern of `key` over a buffer of this allocator; by way of `staging`, ordinary memory of at least the
/// same size, where the processor cannot reach the buffer itself. Throws Error, where the memory is a device's.
void write_pattern(const memory::Allocator& allocator, std::span<std::byte> buffer, Fill fill,
                   const memory::PatternKey& key, std::span<std::byte> staging);

/// Each slot is large enough for every message of the run. What lies in those to send from follows from rank, slot and
/// seed.
class MessageSlots {
 public:
  /// `num`: see num_slots() of the plan; a rank without channels needs none. Throws Error(something_missing) where the
  /// allocator cannot provide them.
  MessageSlots(const RunRequest& request, std::uint32_t num, int rank);

  std::uint32_t num() const { return num_; }
  kernel::NeighbourBuffers all() const { return {send_.data(), receive_.data(), stride_bytes_}; }

 private:
  std::uint32_t num_;
  std::size_t stride_bytes_;
  memory::Buffer send_, receive_;
};

inline constexpr const char* corruption_hint =
    "Data is corrupted on the way: do not trust this link before memory, cable and driver are checked";

inline std::string expected_and_found(std::uint8_t expected, std::uint8_t found) {
  return fmt::format("expected 0x{:02x}, found 0x{:02x}", expected, found);
}

}  // namespace leadline::bench
