// SPDX-License-Identifier: Apache-2.0
// Splits a text at line ends, blanks and separators, and words its errors.
#include "network/lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace leadline::network {
namespace {

constexpr std::string_view blank_characters = " \t\r\v\f";
constexpr std::size_t most_shown_bytes = 60;

}  // namespace

std::optional<std::string_view> Lines::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  return line;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(blank_characters, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blank_characters, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

std::string shown(std::string_view text) {
  if (text.size() <= most_shown_bytes) return "'" + std::string(text) + "'";
  std::size_t end = most_shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;  // no half characters
  return "'" + std::string(text.substr(0, end)) + "...'";
}

void refuse_word(std::string_view word, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("--topology cannot be {}", shown(word)), why, hint);
}

void refuse_file(const std::string& file, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("cannot use '{}' as a network", file), why, hint);
}

void Line::refuse(const std::string& why, const std::string& hint) const {
  if (number == 0) throw Error(ExitStatus::bad_command_line, file + " cannot be used", why, hint);
  refuse_file(file, fmt::format("line {}: {}", number, why), hint);
}

}  // namespace leadline::network
