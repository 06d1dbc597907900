// SPDX-License-Identifier: Apache-2.0
// Finds the lines by their first words.
#include "output/colours.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string_view>

namespace leadline::output {
namespace {

struct ColouredLine {
  std::string_view begin;
  const char* colour;  ///< as ECMA-48 selects it
};

constexpr const char *red = "\x1b[1;31m", *green = "\x1b[1;32m", *yellow = "\x1b[1;33m", *as_before = "\x1b[0m";

/// The first that fits counts.
constexpr ColouredLine coloured_lines[] = {
    {"verdict: no fault found: ", green},
    {"verdict: not worse: ", green},
    {"verdict: no fault found, ", yellow},
    {"verdict: could not be ", yellow},
    {"verdict: nothing was ", yellow},
    {"verdict: ", red},
    {"INCOMPLETE: ", red},
    {"warning: ", yellow},
};

/// The answer of a check, the first word of its text.
constexpr ColouredLine answers_of_checks[] = {
    {"GOOD  ", green}, {"WARNING  ", yellow}, {"BAD  ", red}, {"UNTESTED  ", yellow}};

template <std::size_t num>
const ColouredLine* beginning_of(std::string_view line, const ColouredLine (&known)[num]) {
  const auto found = std::ranges::find_if(known, [&](const ColouredLine& one) { return line.starts_with(one.begin); });
  return found == std::end(known) ? nullptr : found;
}

/// Of a check's lines below: " 1  host node2 ...", " !  ...", " ?  ...", " drain: node2"; empty = none.
const char* colour_in_check(std::string_view line) {
  if (line.starts_with(" !  ") || line.starts_with(" ?  ")) return yellow;
  const std::size_t end = line.find_first_not_of("0123456789", 1);
  const bool is_numbered = line.starts_with(' ') && end != std::string_view::npos && end > 1;
  return (is_numbered && line.substr(end).starts_with("  ")) || line.starts_with(" drain: ") ? red : "";
}

const char* colour_of(std::string_view line) {
  const ColouredLine* const known = beginning_of(line, coloured_lines);
  return known == nullptr ? "" : known->colour;
}

}  // namespace

std::string coloured(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  std::string line;
  const ColouredLine* const answer = beginning_of(text, answers_of_checks);
  if (answer != nullptr) {
    result = answer->colour + text.substr(0, text.find(' ')) + as_before;
    lines.ignore(static_cast<std::streamsize>(text.find(' ')));
    std::getline(lines, line);
    result += lines.eof() ? line : line + '\n';
  }
  while (std::getline(lines, line)) {
    const char* const colour = answer != nullptr ? colour_in_check(line) : colour_of(line);
    result += *colour == '\0' ? line : colour + line + as_before;
    if (!lines.eof()) result += '\n';
  }
  return result;
}

}  // namespace leadline::output
