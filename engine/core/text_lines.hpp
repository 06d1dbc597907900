// SPDX-License-Identifier: Apache-2.0
// Texts of other programs: their lines, words and numbers.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace leadline {

using Words = std::vector<std::string_view>;

/// Without the ends of the lines.
std::vector<std::string_view> lines_in(std::string_view text);

/// What lies between blanks.
Words words_in(std::string_view line);

/// Without the blanks around it.
std::string_view trimmed(std::string_view line);

/// Nothing where the word is anything but a number.
template <typename Number>
std::optional<Number> number_in(std::string_view word) {
  Number number{};
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// All of a text file; empty where it cannot be read, or its beginning has a byte that no text has.
std::string text_in_file(const std::string& path);

}  // namespace leadline
