// SPDX-License-Identifier: Apache-2.0
// Numbers as bytes in a given order, and back.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace leadline::result::sion {

enum class ByteOrder : std::uint8_t { little = 0, big = 1 };

inline constexpr ByteOrder host_byte_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

/// The number whose bytes stand at `bytes`, of which there are enough.
template <typename Number>
Number number_at(const char* bytes, ByteOrder order) {
  std::array<char, sizeof(Number)> copy;
  std::copy_n(bytes, sizeof(Number), copy.begin());
  if (order != host_byte_order) std::reverse(copy.begin(), copy.end());
  return std::bit_cast<Number>(copy);
}

template <typename Number>
void append_number(std::string& bytes, Number number, ByteOrder order) {
  auto copy = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if (order != host_byte_order) std::reverse(copy.begin(), copy.end());
  bytes.append(copy.data(), copy.size());
}

/// Takes numbers off a text one after the other; the caller knows that they are there.
class ByteCursor {
 public:
  ByteCursor(std::string_view bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  template <typename Number>
  Number take() {
    assert(sizeof(Number) <= bytes_.size());
    const auto number = number_at<Number>(bytes_.data(), order_);
    bytes_.remove_prefix(sizeof(Number));
    return number;
  }

  template <typename Number, std::size_t extent>
  void take(std::span<Number, extent> numbers) {
    for (Number& number : numbers) number = take<Number>();
  }

  std::string_view take_text(std::size_t size) {
    assert(size <= bytes_.size());
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }

  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
  ByteOrder order_;
};

}  // namespace leadline::result::sion
