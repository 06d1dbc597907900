// SPDX-License-Identifier: Apache-2.0
// Allocates message slots and fills them.
#include "bench/message_memory.hpp"

#include <algorithm>
#include <vector>

namespace leadline::bench {
namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

std::uint64_t largest_message_bytes(const RunRequest& request) {
  return *std::max_element(request.message_sizes_bytes.begin(), request.message_sizes_bytes.end());
}

std::size_t stride_of(std::uint32_t num, std::uint64_t largest_message_bytes) {
  const auto size = std::max<std::size_t>(largest_message_bytes, 1);
  return num <= 1 ? size : (size + page_bytes - 1) / page_bytes * page_bytes;
}

void write_pattern(const memory::Allocator& allocator, std::span<std::byte> buffer, Fill fill,
                   const memory::PatternKey& key, std::span<std::byte> staging) {
  if (allocator.location == memory::Location::host) {
    memory::fill(buffer, fill, key);
    return;
  }
  const std::span<std::byte> pattern = staging.first(buffer.size());
  memory::fill(pattern, fill, key);
  allocator.copy_in(buffer.data(), pattern);
}

MessageSlots::MessageSlots(const RunRequest& request, std::uint32_t num, int rank)
    : num_(num),
      stride_bytes_(stride_of(num, largest_message_bytes(request))),
      send_(memory::allocator_named(request.allocator), num * stride_bytes_),
      receive_(memory::allocator_named(request.allocator), num * stride_bytes_) {
  const memory::Allocator& allocator = memory::allocator_named(request.allocator);
  std::vector<std::byte> staging(allocator.location == memory::Location::host ? 0 : stride_bytes_);
  const auto who = static_cast<std::uint32_t>(rank);
  for (std::uint32_t slot = 0; slot < num; ++slot) {
    write_pattern(allocator, send_.span().subspan(slot * stride_bytes_, stride_bytes_), request.fill,
                  {who, who, slot, request.fill_seed}, staging);
  }
}

}  // namespace leadline::bench
