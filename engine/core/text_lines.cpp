// SPDX-License-Identifier: Apache-2.0
// Splits texts at line ends and blanks.
#include "core/text_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>

namespace leadline {
namespace {

constexpr std::string_view blanks = " \t\r";

}  // namespace

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Words words_in(std::string_view line) {
  Words words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

std::string text_in_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  constexpr std::size_t beginning = 1 << 16;
  std::string text(beginning, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  // What is no text is not read to its end.
  if (contains(text, std::string_view("\0", 1))) return {};
  if (file) text.append(std::istreambuf_iterator<char>(file), {});
  return text;
}

}  // namespace leadline
