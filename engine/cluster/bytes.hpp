// SPDX-License-Identifier: Apache-2.0
// Numbers and texts inside messages of the control plane: little-endian, texts behind their length.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leadline::cluster {

template <std::unsigned_integral Number>
void put(char* at, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    at[i] = static_cast<char>(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i)));
  }
}

template <std::unsigned_integral Number>
Number take(const char* at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  }
  return static_cast<Number>(number);
}

template <std::unsigned_integral Number>
void append(std::string& to, Number number) {
  char bytes[sizeof(Number)];
  put(bytes, number);
  to.append(bytes, sizeof bytes);
}

inline void append_text(std::string& to, std::string_view text) {
  append(to, static_cast<std::uint32_t>(text.size()));
  to.append(text);
}

/// Reads what append and append_text wrote; beyond the end everything is 0 and empty, and `is_short` says so.
class Reader {
 public:
  explicit Reader(std::string_view from) : left_(from) {}

  template <std::unsigned_integral Number>
  Number number() {
    const std::string_view bytes = text_of(sizeof(Number));
    return bytes.size() == sizeof(Number) ? take<Number>(bytes.data()) : Number{0};
  }
  std::string text() { return std::string(text_of(number<std::uint32_t>())); }
  std::string_view text_of(std::size_t length) {
    if (length > left_.size()) {
      is_short_ = true;
      left_ = {};
      return {};
    }
    const std::string_view bytes = left_.substr(0, length);
    left_.remove_prefix(length);
    return bytes;
  }
  std::string_view rest() const { return left_; }
  bool at_end() const { return left_.empty(); }
  bool is_short() const { return is_short_; }

 private:
  std::string_view left_;
  bool is_short_ = false;
};

}  // namespace leadline::cluster
