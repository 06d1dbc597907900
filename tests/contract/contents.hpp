// SPDX-License-Identifier: Apache-2.0
// What the suite's measurements send, receive and fill: buffers with contents that can be told apart, and samples.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "contract/transport_contract.hpp"
#include "core/deadline.hpp"
#include "kernel/exchange.hpp"
#include "memory/buffer.hpp"
#include "memory/pattern.hpp"
#include "model/samples.hpp"

namespace leadline::contract {

/// What samples hold before a measurement.
inline constexpr std::uint64_t untouched = 0xfeedbeef;

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

inline std::size_t num_open_files() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

inline Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

/// All other ranks, linked.
inline std::vector<std::int32_t> connect_to_all(End& end) {
  std::vector<std::int32_t> partners;
  for (const std::int32_t partner : tournament(end.rank, end.size)) {
    if (partner < 0) continue;
    end.transport.connect(partner, soon());
    partners.push_back(partner);
  }
  return partners;
}

/// Bytes where the candidate's messages lie. Those on a GPU are reached by copies; those of the processor without,
/// since fresh pages for a copy take longer than all that is done with it.
class Bytes {
 public:
  explicit Bytes(std::size_t size, std::byte value = {}) : buffer_(ranks().allocator(), size) {
    change(0, size, [value](std::span<std::byte> bytes) {
      if (!bytes.empty()) std::memset(bytes.data(), std::to_integer<int>(value), bytes.size());
    });
  }

  std::byte* data() const { return buffer_.data(); }
  std::span<std::byte> span() const { return buffer_.span(); }

  void write(std::size_t begin, std::span<const std::byte> from) {
    if (!from.empty()) ranks().allocator().copy_in(data() + begin, from);
  }
  std::vector<std::byte> read(std::size_t begin, std::size_t size) const {
    std::vector<std::byte> bytes(size);
    if (size > 0) ranks().allocator().copy_out(bytes, data() + begin);
    return bytes;
  }

  void fill(Fill fill, const memory::PatternKey& key) { fill_part(0, buffer_.size(), fill, key); }
  void fill_part(std::size_t begin, std::size_t size, Fill fill, const memory::PatternKey& key) {
    change(begin, size, [&](std::span<std::byte> bytes) { memory::fill(bytes, fill, key); });
  }

  std::optional<memory::WrongByte> first_wrong_byte(Fill fill, const memory::PatternKey& key) const {
    return look(0, buffer_.size(), [&](auto bytes) { return memory::first_wrong_byte(bytes, fill, key); });
  }
  bool is_filled(std::size_t begin, std::size_t size, Fill fill, const memory::PatternKey& key) const {
    return look(begin, size, [&](auto bytes) { return !memory::first_wrong_byte(bytes, fill, key); });
  }
  bool is_all(std::size_t begin, std::size_t size, std::byte value) const {
    return look(begin, size, [&](auto bytes) {
      if (bytes.empty()) return true;
      return bytes[0] == value && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
    });
  }

 private:
  static bool is_reachable() { return ranks().allocator().location == memory::Location::host; }

  template <typename Change>
  void change(std::size_t begin, std::size_t size, const Change& made) {
    if (is_reachable()) return made(buffer_.span().subspan(begin, size));
    std::vector<std::byte> bytes(size);
    made(std::span<std::byte>(bytes));
    write(begin, bytes);
  }

  template <typename Look>
  std::invoke_result_t<Look, std::span<const std::byte>> look(std::size_t begin, std::size_t size,
                                                              const Look& taken) const {
    if (is_reachable()) return taken(std::span<const std::byte>(buffer_.span().subspan(begin, size)));
    const auto bytes = read(begin, size);
    return taken(std::span<const std::byte>(bytes));
  }

  memory::Buffer buffer_;
};

/// One buffer each way.
struct Memory {
  explicit Memory(std::size_t size) : send(size), receive(size) {}
  kernel::Buffers buffers() const { return {send.data(), receive.data()}; }

  Bytes send, receive;
};

inline memory::PatternKey key_from(int rank) { return {static_cast<std::uint32_t>(rank), 77, 0}; }

inline std::vector<Sample> fresh_samples(std::size_t num) {
  return std::vector<Sample>(num, Sample{untouched, untouched});
}

/// Several buffers with a gap of untouched bytes behind each; those to send from filled, each with contents of its own.
class ManyBuffers {
 public:
  ManyBuffers(int rank, std::uint32_t num, std::size_t size)
      : num_(num), size_(size), send_(num * (size + gap), blank), receive_(num * (size + gap), blank) {
    for (std::uint32_t i = 0; i < num; ++i) send_.fill_part(begin(i), size, Fill::random, key(rank, i));
  }

  kernel::Buffers buffers() const { return {send_.data(), receive_.data(), num_, size_ + gap}; }

  /// Whether buffer `index` holds what lies in the `sent`-th buffer of rank `from`.
  bool received(std::uint32_t index, int from, std::uint32_t sent) const {
    return receive_.is_filled(begin(index), size_, Fill::random, key(from, sent));
  }

  bool is_blank(std::uint32_t index) const { return receive_.is_all(begin(index), size_, blank); }

  bool gaps_are_blank() const {
    for (std::uint32_t i = 0; i < num_; ++i) {
      if (!receive_.is_all(begin(i) + size_, gap, blank)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t gap = 24;
  static constexpr std::byte blank{0xee};

  static memory::PatternKey key(int rank, std::uint32_t index) { return {static_cast<std::uint32_t>(rank), 77, index}; }
  std::size_t begin(std::uint32_t index) const { return index * (size_ + gap); }

  std::uint32_t num_;
  std::size_t size_;
  Bytes send_, receive_;
};

}  // namespace leadline::contract
