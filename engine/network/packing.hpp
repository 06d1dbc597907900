// SPDX-License-Identifier: Apache-2.0
// Numbers and lists of plain data as bytes, and back: for ranks of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leadline::network {

inline void put(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Value>
void put_list(std::string& text, const Value& values) {
  put(text, values.size());
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
}

inline std::uint64_t take(std::string_view& text) {
  std::uint64_t number = 0;
  std::memcpy(&number, text.data(), sizeof number);
  text.remove_prefix(sizeof number);
  return number;
}

template <typename Value>
void take_list(std::string_view& text, Value& values) {
  values.resize(take(text));
  const std::size_t size = values.size() * sizeof values[0];
  if (size > 0) std::memcpy(values.data(), text.data(), size);
  text.remove_prefix(size);
}

}  // namespace leadline::network
