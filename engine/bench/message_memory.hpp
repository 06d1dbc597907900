// SPDX-License-Identifier: Apache-2.0
// What the message buffers of all benchmarks have in common: how far apart they lie, and how contents get into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace leadline::bench
