// SPDX-License-Identifier: Apache-2.0
// Holds results against them.
#include "cli/fail_below.hpp"

#include <fmt/format.h>

#include "core/units.hpp"
#include "output/diagnosis_text.hpp"

namespace leadline::cli {
namespace {

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
