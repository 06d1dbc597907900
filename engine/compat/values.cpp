// SPDX-License-Identifier: Apache-2.0
// Reads numbers strictly: signs, blanks and letters behind them are mistakes that the old tools overlooked.
#include "compat/values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "core/error.hpp"
#include "options/values.hpp"

namespace leadline::compat {
namespace {

constexpr double max_number = 1e9;

std::string where_more_is(const char* program) { return fmt::format("See {} -h", program); }

}  // namespace

void refuse(const std::string& problem, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, problem, why, hint);
}

OptionToken taken_apart(const std::string& word) {
  if (word.starts_with("--")) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) return {word, std::nullopt};
    return {word.substr(0, equals), word.substr(equals + 1)};
  }
  if (word.size() > 2 && word[0] == '-') return {word.substr(0, 2), word.substr(2)};
  return {word, std::nullopt};
}

std::uint64_t whole_number(const std::string& option, const std::string& text, const NumberRange& range) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stop != end || value < range.min || value > range.max) {
    throw_bad_value(option, text, fmt::format("it must be a whole number from {} to {}", range.min, range.max),
                    where_more_is(range.program));
  }
  return value;
}

double number_from(const std::string& option, const std::string& text, double min, const char* program) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stop != end || !(value >= min && value <= max_number)) {
    throw_bad_value(option, text, fmt::format("it must be a number from {} to {}", min, max_number),
                    where_more_is(program));
  }
  return value;
}

std::vector<std::string> host_of_each_rank(const std::vector<HostRanks>& hosts) {
  std::map<int, std::string> by_rank;
  for (const auto& [host, ranks] : hosts) {
    const char* const end = ranks.data() + ranks.size();
    for (const char* at = ranks.data(); at < end; ++at) {
      int first = 0;
      at = std::from_chars(at, end, first).ptr;
      int last = first;
      if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
      for (int rank = first; rank <= last; ++rank) by_rank[rank] = host;
    }
  }
  std::vector<std::string> names;
  for (const auto& [rank, host] : by_rank) names.push_back(host);
  return names;
}

}  // namespace leadline::compat
