// SPDX-License-Identifier: Apache-2.0
// Finds the lines by their first words.
#include "output/colours.hpp"

#include <algorithm>
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

}  // namespace

std::string coloured(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto known =
        std::ranges::find_if(coloured_lines, [&](const ColouredLine& one) { return line.starts_with(one.begin); });
    result += known == std::end(coloured_lines) ? line : known->colour + line + as_before;
    if (!lines.eof()) result += '\n';
  }
  return result;
}

}  // namespace leadline::output
