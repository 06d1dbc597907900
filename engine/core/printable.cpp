// SPDX-License-Identifier: Apache-2.0
// Finds the characters that are no letters in bytes of UTF-8, which need not be valid.
#include "core/printable.hpp"

#include <cstddef>

namespace leadline {
namespace {

/// How many bytes at the beginning are such a character; 0 = none.
std::size_t length_of_command(std::string_view text, LineEnds line_ends) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned first = byte(0), second = byte(1), third = byte(2);
  const auto is_third_in = [&](unsigned begin, unsigned last) { return third >= begin && third <= last; };
  if (line_ends == LineEnds::kept && (first == '\n' || first == '\t')) return 0;
  if (first < 0x20 || first == 0x7f) return 1;
  if (first == 0xc2 && (second & 0xe0U) == 0x80) return 2;  // U+0080 to U+009F
  if (first == 0xd8 && second == 0x9c) return 2;            // U+061C
  if (first != 0xe2) return 0;
  if (second == 0x80 && (is_third_in(0x8e, 0x8f) || is_third_in(0xa8, 0xae))) return 3;  // U+200E, U+2028 to U+202E
  return second == 0x81 && is_third_in(0xa6, 0xa9) ? 3 : 0;                              // U+2066 to U+2069
}

}  // namespace

std::string printable(std::string_view text, LineEnds line_ends, char instead) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = length_of_command(text, line_ends);
    shown += length > 0 ? instead : text.front();
    text.remove_prefix(length > 0 ? length : 1);
  }
  return shown;
}

}  // namespace leadline
