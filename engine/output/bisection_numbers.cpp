// SPDX-License-Identifier: Apache-2.0
// Writes intervals, shares and percentages.
#include "output/bisection_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "output/table.hpp"

namespace leadline::output {

std::string plus_minus(const Interval& interval, const Unit& unit) {
  if (!std::isfinite(interval.half_width)) return in_unit(interval.mean, unit);
  return fmt::format("{} ± {}", in_unit(interval.mean, unit), in_unit(interval.half_width, unit));
}

std::string share_text(double share) { return in_unit(share, Unit{}); }

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }

double relative_width(const Interval& interval) { return interval.half_width / interval.mean; }

const BisectionSummary* summary_of(const BisectionResult& result, int size_index) {
  for (const BisectionSummary& summary : result.sizes) {
    if (summary.size_index == size_index && summary.num_patterns > 0) return &summary;
  }
  return nullptr;
}

bool has_random_patterns(const BisectionResult& result) {
  return std::any_of(result.sizes.begin(), result.sizes.end(),
                     [](const BisectionSummary& summary) { return summary.num_patterns > 0; });
}

Unit unit_of_bandwidths(const BisectionResult& result) {
  std::vector<double> bandwidths;
  for (const BisectionSummary& summary : result.sizes) bandwidths.push_back(summary.ebb.mean);
  if (std::isnan(middle_of(bandwidths))) {
    for (const PatternSummary& pattern : result.patterns) bandwidths.push_back(pattern.bytes_per_s_mean);
  }
  return bandwidth_unit(middle_of(bandwidths));
}

}  // namespace leadline::output
