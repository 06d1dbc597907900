// SPDX-License-Identifier: Apache-2.0
// Compares candidates of one kind with each other.
#include "diagnosis/suspect.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/significance.hpp"

namespace leadline::diagnosis {
namespace {

// Steps of 1/2047 in which logarithms are kept, spread evenly, leave about this much; nothing scatters less.
constexpr double least_error = 3e-4;

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

Middle middle_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  Middle middle;
  middle.num = values.size();
  if (values.empty()) return middle;
  middle.median = median_of(values);
  for (double& value : values) value = std::abs(value - middle.median);
  middle.spread = 1.4826 * median_of(values);
  return middle;
}

double consensus(std::vector<double>& members, double share) {
  std::erase_if(members, [](double value) { return std::isnan(value); });
  if (members.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto at = members.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(members.size() - 1));
  std::nth_element(members.begin(), at, members.end());
  return *at;
}

double degrees_of_freedom(std::size_t num) {
  constexpr double efficiency = 0.37;  // of the MAD, over the standard deviation of normally distributed values
  constexpr double most = 10;          // a guess between the normal distribution and what real machines scatter like
  return std::clamp(efficiency * (static_cast<double>(num) - 1), 1.0, most);
}

std::vector<Suspect> judge(std::span<const Candidate> candidates, const Comparison& comparison,
                           const DiagnosisSettings& settings) {
  std::vector<double> effects;
  for (const Candidate& usual : comparison.usual) effects.push_back(usual.effect);
  const Middle middle = middle_of(effects);
  if (middle.num < fewest_to_compare) return {};
  if (middle.num <= comparison.num_fitted) return {};  // nothing is left to judge by
  const std::size_t num_free = middle.num - comparison.num_fitted;
  const double freedom = std::max(degrees_of_freedom(num_free), comparison.least_freedom);
  const double spread = middle.spread * std::sqrt(static_cast<double>(middle.num) / static_cast<double>(num_free));

  std::vector<Suspect> suspects;
  std::vector<double> p_values;
  for (const Candidate& candidate : candidates) {
    const double effect = candidate.effect - middle.median;
    if (std::isnan(effect) || effect < std::log1p(settings.threshold)) continue;
    const double error = std::max({spread, candidate.standard_error, least_error});
    const double p = stats::student_t_tail(effect / error, freedom);
    p_values.push_back(p);
    suspects.push_back({candidate.component, comparison.direction, effect, error, p, candidate.num_pairs, false});
  }
  const auto num_tests = std::max<std::uint64_t>({comparison.num_tests, middle.num, p_values.size()});
  const std::vector<bool> stays = stats::rejected(p_values, num_tests, settings.false_discovery_rate);
  std::size_t index = 0;
  std::erase_if(suspects, [&](const Suspect&) { return !stays[index++]; });
  return suspects;
}

std::vector<Suspect> judge(std::span<const Candidate> candidates, FaultDirection direction,
                           const DiagnosisSettings& settings) {
  return judge(candidates, {direction, candidates, 0, candidates.size(), 1}, settings);
}

}  // namespace leadline::diagnosis
