// SPDX-License-Identifier: Apache-2.0
// Buffers side by side in one stretch of memory, each beginning on a page.
#include "bench/link/message_buffers.hpp"

#include <algorithm>
#include <span>

#include "bench/message_memory.hpp"

namespace leadline::bench::link {
namespace {

constexpr std::byte wiped{0xa5};

std::uint64_t largest_of_all_bytes(const LinkRequest& request) {
  return std::max(largest_message_bytes(request), request.all_to_all_size_bytes);
}

}  // namespace

MessageBuffers::MessageBuffers(const LinkRequest& request, int rank)
    : rank_(rank),
      allocator_(memory::allocator_named(request.allocator)),
      fill_(request.fill),
      seed_(request.fill_seed),
      num_(request.num_buffers),
      stride_bytes_(stride_of(request.num_buffers, largest_of_all_bytes(request))),
      send_(allocator_, num_ * stride_bytes_),
      receive_(allocator_, num_ * stride_bytes_) {
  if (allocator_.location != memory::Location::host) staging_.resize(stride_bytes_);
  fill_sent();
}

void MessageBuffers::fill_sent() {
  for (std::uint32_t buffer = 0; buffer < num_; ++buffer) {
    write_pattern(allocator_, send_.span().subspan(buffer * stride_bytes_, stride_bytes_), fill_, key_of(rank_, buffer),
                  staging_);
  }
}

memory::PatternKey MessageBuffers::key_of(int rank, std::uint32_t buffer) const {
  const auto who = static_cast<std::uint32_t>(rank);
  return {who, who, buffer, seed_};
}

kernel::Buffers MessageBuffers::all() const { return {send_.data(), receive_.data(), num_, stride_bytes_}; }

void MessageBuffers::wipe_received(std::size_t size_bytes) {
  if (!staging_.empty()) std::fill_n(staging_.begin(), size_bytes, wiped);
  for (std::uint32_t buffer = 0; buffer < num_; ++buffer) {
    std::byte* const data = receive_.data() + buffer * stride_bytes_;
    if (staging_.empty()) {
      std::fill_n(data, size_bytes, wiped);
    } else {
      allocator_.copy_in(data, std::span(staging_).first(size_bytes));
    }
  }
}

std::uint32_t MessageBuffers::num_reached(std::uint64_t num_messages) const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(num_, num_messages));
}

std::optional<WrongByteInBuffer> MessageBuffers::first_wrong_byte(int partner, std::size_t size_bytes,
                                                                  std::uint64_t num_messages) {
  for (std::uint32_t buffer = 0; buffer < num_reached(num_messages); ++buffer) {
    std::span<const std::byte> received(receive_.data() + buffer * stride_bytes_, size_bytes);
    if (!staging_.empty()) {
      allocator_.copy_out(std::span(staging_).first(size_bytes), received.data());
      received = std::span(staging_).first(size_bytes);
    }
    if (const auto wrong = memory::first_wrong_byte(received, fill_, key_of(partner, buffer))) {
      return WrongByteInBuffer{buffer, *wrong};
    }
  }
  return std::nullopt;
}

}  // namespace leadline::bench::link
