// SPDX-License-Identifier: Apache-2.0
// What the suite's measurements send, receive and fill: buffers with contents that can be told apart, and samples.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deadline.hpp"
#include "kernel/exchange.hpp"
#include "memory/pattern.hpp"
#include "model/samples.hpp"

namespace leadline::contract {

/// What samples hold before a measurement.
inline constexpr std::uint64_t untouched = 0xfeedbeef;

inline Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

/// One buffer each way.
struct Memory {
  explicit Memory(std::size_t size) : send(size), receive(size) {}
  kernel::Buffers buffers() { return {send.data(), receive.data()}; }

  std::vector<std::byte> send, receive;
};

inline memory::PatternKey key_from(int rank) { return {static_cast<std::uint32_t>(rank), 77, 0}; }

inline std::vector<Sample> fresh_samples(std::size_t num) {
  return std::vector<Sample>(num, Sample{untouched, untouched});
}

/// Several buffers with a gap of untouched bytes behind each; those to send from filled, each with contents of its own.
class ManyBuffers {
 public:
  ManyBuffers(int rank, std::uint32_t num, std::size_t size)
      : num_(num), size_(size), send_(num * (size + gap), blank), receive_(send_) {
    for (std::uint32_t i = 0; i < num; ++i) memory::fill(part(send_, i), Fill::random, key(rank, i));
  }

  kernel::Buffers buffers() { return {send_.data(), receive_.data(), num_, size_ + gap}; }

  /// Whether buffer `index` holds what lies in the `sent`-th buffer of rank `from`.
  bool received(std::uint32_t index, int from, std::uint32_t sent) {
    return !memory::first_wrong_byte(part(receive_, index), Fill::random, key(from, sent));
  }

  bool is_blank(std::uint32_t index) { return all_blank(part(receive_, index)); }

  bool gaps_are_blank() {
    for (std::uint32_t i = 0; i < num_; ++i) {
      if (!all_blank(std::span(receive_).subspan(i * (size_ + gap) + size_, gap))) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t gap = 24;
  static constexpr std::byte blank{0xee};

  static memory::PatternKey key(int rank, std::uint32_t index) { return {static_cast<std::uint32_t>(rank), 77, index}; }
  static bool all_blank(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == blank; });
  }
  std::span<std::byte> part(std::vector<std::byte>& all, std::uint32_t index) {
    return std::span(all).subspan(index * (size_ + gap), size_);
  }

  std::uint32_t num_;
  std::size_t size_;
  std::vector<std::byte> send_, receive_;
};

}  // namespace leadline::contract
