// SPDX-License-Identifier: Apache-2.0
// Reads limits and holds results against them.
#include "cli/fail_below.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/arguments.hpp"
#include "core/units.hpp"
#include "output/diagnosis_text.hpp"

namespace leadline::cli {
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

/// The first fault that costs more than the share leaves.
std::string below_share(const LinkResult& result, double share) {
  for (const SliceSummary& slice : result.slices) {
    if (!slice.diagnosis) continue;
    for (const Fault& fault : slice.diagnosis->faults) {
      if (!counts(fault) || fault.ratio * share <= 1) continue;
      return fmt::format("{} reaches {:.3g} % of the usual speed with {}", fault.name, 100 / fault.ratio,
                         format_bytes(slice.slice.message_size_bytes));
    }
  }
  return "";
}

/// The slowest pair of any size.
template <typename IsBelow>
std::string slowest_below(const LinkResult& result, const IsBelow& is_below) {
  for (const SliceSummary& slice : result.slices) {
    const double time_ns = slice.all.time_ns_max;
    const std::uint64_t size = slice.slice.message_size_bytes;
    if (slice.all.num_pairs == 0) continue;
    const double bandwidth = bandwidth_bytes_per_s(time_ns, size, result.request.direction);
    if (!is_below(time_ns, bandwidth)) continue;
    return fmt::format("the slowest pair takes {} ({}) with {}", format_time_ns(time_ns), format_bandwidth(bandwidth),
                       format_bytes(size));
  }
  return "";
}

}  // namespace

FailBelow parse_fail_below(const std::string& option, const std::string& text) {
  if (text.ends_with("B/s")) {
    const std::uint64_t bytes = parse_bytes(std::string_view(text).substr(0, text.size() - 2));
    return {FailBelow::Kind::bandwidth_bytes_per_s, static_cast<double>(bytes), text};
  }
  char* unit = nullptr;
  std::strtod(text.c_str(), &unit);
  const std::string_view its = unit;
  if (unit != text.c_str() && (its.empty() || its.ends_with('%'))) {
    return {FailBelow::Kind::share, parse_share(option, text, least_share), text};
  }
  return time_limit(option, text);
}

std::string below_limit(const LinkResult& result) {
  const FailBelow& limit = result.request.fail_below;
  if (result.request.strict) {
    if (std::string why = below_share(result, 1); !why.empty()) return why;
  }
  switch (limit.kind) {
    case FailBelow::Kind::nothing:
      return "";
    case FailBelow::Kind::share:
      return below_share(result, limit.value);
    case FailBelow::Kind::bandwidth_bytes_per_s:
      return slowest_below(result, [&](double, double bandwidth) { return bandwidth < limit.value; });
    case FailBelow::Kind::time_ns:
      return slowest_below(result, [&](double time_ns, double) { return time_ns > limit.value; });
  }
  return "";
}

}  // namespace leadline::cli
