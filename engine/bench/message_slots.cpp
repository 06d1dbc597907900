// SPDX-License-Identifier: Apache-2.0
// Slots side by side in one stretch of memory, each beginning on a page.
#include "bench/message_slots.hpp"

#include <vector>

#include "bench/message_memory.hpp"

namespace leadline::bench {
MessageSlots::MessageSlots(const RunRequest& request, std::uint32_t num, int rank)
    : num_(num),
      stride_bytes_(stride_of(num, largest_message_bytes(request))),
      send_(memory::allocator_named(request.allocator), num * stride_bytes_),
      receive_(memory::allocator_named(request.allocator), num * stride_bytes_) {
  const memory::Allocator& allocator = memory::allocator_named(request.allocator);
  std::vector<std::byte> staging(allocator.place == memory::Location::host ? 0 : stride_bytes_);
  const auto who = static_cast<std::uint32_t>(rank);
  for (std::uint32_t slot = 0; slot < num; ++slot) {
    write_pattern(allocator, send_.span().subspan(slot * stride_bytes_, stride_bytes_), request.fill,
                  {who, who, slot, request.fill_seed}, staging);
  }
}

}  // namespace leadline::bench
