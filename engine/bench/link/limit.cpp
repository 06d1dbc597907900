// SPDX-License-Identifier: Apache-2.0
// Reads --fail-below: a share, a bandwidth or a time.
#include "bench/link/limit.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/units.hpp"
#include "options/values.hpp"

namespace leadline::bench::link {
namespace {

constexpr double least_share = 0.01;

FailBelow time_limit(const std::string& option, const std::string& text) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  for (const auto& [name, factor_ns] :
       {std::pair{"ns", 1.0}, std::pair{"us", 1e3}, std::pair{"ms", 1e6}, std::pair{"s", 1e9}}) {
    const double time_ns = number * factor_ns;
    if (std::string_view(unit) == name && std::isfinite(time_ns) && time_ns > 0) {
      return {FailBelow::Kind::time_ns, time_ns, text};
    }
  }
  throw_bad_value(option, text, "it must be a share, a bandwidth or a time", "Write for example 90%, 10GiB/s or 5us");
}

}  // namespace

FailBelow parse_fail_below(const std::string& option, const std::string& text) {
  if (text.ends_with("B/s")) {
    const std::uint64_t bytes = parse_bytes(std::string_view(text).substr(0, text.size() - 2));
    return {FailBelow::Kind::bandwidth_bytes_per_s, static_cast<double>(bytes), text};
  }
  char* unit = nullptr;
  std::strtod(text.c_str(), &unit);
  const std::string_view suffix = unit;
  if (unit != text.c_str() && (suffix.empty() || suffix.ends_with('%'))) {
    return {FailBelow::Kind::share, parse_share(option, text, least_share), text};
  }
  return time_limit(option, text);
}

}  // namespace leadline::bench::link
