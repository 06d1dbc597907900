// SPDX-License-Identifier: Apache-2.0
// Values of options as people type them.
#include "options/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline {
namespace {

/// A plain non-negative decimal number; false for anything else, signs and blanks included.
bool read_number(const std::string& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

void throw_bad_value(const std::string& option, const std::string& text, const std::string& why,
                     const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be '{}'", option, text), why,
              hint.empty() ? "See --help" : hint);
}

void throw_no_effect(const std::string& option, const std::string& why) {
  throw Error(ExitStatus::bad_command_line, option + " has no effect here", why, "Leave it out");
}

void throw_apart(const std::string& option, const std::string& other, const std::string& why) {
  throw Error(ExitStatus::bad_command_line, fmt::format("{} and {} do not go together", option, other), why,
              fmt::format("Leave out {} or {}", option, other));
}

std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t value = 0;
  if (!read_number(text, value) || value < min || value > max) {
    throw_bad_value(option, text, fmt::format("it must be a whole number from {} to {}", min, max));
  }
  return value;
}

double parse_seconds(const std::string& option, const std::string& text, double min_s) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  const std::string suffix = unit;
  const double factor = suffix.empty() || suffix == "s" ? 1
                        : suffix == "ms"                ? 1e-3
                        : suffix == "us"                ? 1e-6
                        : suffix == "m"                 ? 60
                        : suffix == "h"                 ? 3600
                                                        : 0;
  const double seconds = number * factor;
  if (unit == text.c_str() || factor == 0 || !std::isfinite(seconds) || seconds < min_s || seconds > 1e9) {
    throw_bad_value(option, text, fmt::format("it must be a time of at least {} s", min_s),
                    "Write for example 30, 30s, 500ms, 5m or 2h");
  }
  return seconds;
}

std::uint64_t parse_size(const std::string& option, const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t bytes = 0;
  try {
    bytes = parse_bytes(text);
  } catch (const Error& error) {
    throw_bad_value(option, text, error.why(), error.hint());
  }
  if (bytes < min || bytes > max) {
    throw_bad_value(option, text, fmt::format("it must be from {} to {}", format_bytes(min), format_bytes(max)));
  }
  return bytes;
}

double parse_share(const std::string& option, const std::string& text, double least) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  const std::string suffix = unit;
  const double factor = suffix.empty() ? 1 : suffix == "%" || suffix == " %" ? 0.01 : 0;
  const double share = number * factor;
  if (unit == text.c_str() || factor == 0 || !(share >= least) || share > 1) {
    throw_bad_value(option, text, fmt::format("it must be a share from {:g} % to 100 %", 100 * least),
                    "Write for example 1% or 0.01");
  }
  return share;
}

std::vector<std::string> words_of(const std::string& list, char separator) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(separator, at), list.size());
    words.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

std::vector<std::int64_t> parse_rounds(const std::string& option, const std::string& text) {
  constexpr std::uint64_t max_round = std::uint64_t{1} << 40;
  constexpr std::size_t max_rounds = std::size_t{1} << 24;
  std::vector<std::int64_t> rounds;
  for (const std::string& part : words_of(text)) {
    const std::size_t dash = part.find('-');
    std::uint64_t first = 0, last = 0;
    const bool is_fine = read_number(part.substr(0, dash), first) &&
                         (dash == std::string::npos ? (last = first, true) : read_number(part.substr(dash + 1), last));
    if (!is_fine || first == 0 || last < first || last > max_round || last - first >= max_rounds - rounds.size()) {
      throw_bad_value(option, text, fmt::format("'{}' is no round or range of rounds", part),
                      "Write for example 1,4,7-9");
    }
    for (std::uint64_t round = first; round <= last; ++round) rounds.push_back(static_cast<std::int64_t>(round));
  }
  return rounds;
}

}  // namespace leadline
