// SPDX-License-Identifier: Apache-2.0
// Splits sorted values in two for as long as that explains much more, and goes on in the lower part.
#include "diagnosis/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace leadline::diagnosis {
namespace {

constexpr double least_between_means = 0.05;  // of two clusters' means: logarithm
constexpr double least_deviations = 3.5;      // of the lower one, between means
constexpr double least_between_parts = 0.02;  // between the highest of the lower and the lowest of the upper part
constexpr double least_noise = 0.005;         // of which no two values are told apart
constexpr double least_gain = 10;  // of the Bayesian information criterion: "very strong" (Kass and Raftery 1995)

/// Of at least one value, none of them NaN; reorders them.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Sums of a part of sorted values.
struct Sums {
  double num = 0, sum = 0, squares = 0;

  void add(double value) { ++num, sum += value, squares += value * value; }
  double mean() const { return sum / num; }
  double rest() const { return std::max(squares - sum * sum / num, 0.0); }  ///< squares around the mean
};

/// Twice the logarithm of the likelihood of normally distributed values, but for a constant.
double likelihood(const Sums& sums, double noise) {
  return -sums.num * std::log(sums.rest() / sums.num + noise * noise);
}

/// How many of sorted values are the lower part; all where one cluster explains them as well.
std::size_t lower_part(std::span<const double> sorted, std::size_t fewest, double noise) {
  Sums all;
  const double origin = sorted.front();
  for (const double value : sorted) all.add(value - origin);
  const auto upper_of = [&](const Sums& lower) {
    return Sums{all.num - lower.num, all.sum - lower.sum, all.squares - lower.squares};
  };
  // Two means, two deviations and a cut instead of one mean and one deviation.
  const double of_one = likelihood(all, noise) + 3 * std::log(all.num);
  Sums lower;
  double most = least_gain;
  std::size_t best = sorted.size();
  for (std::size_t num = 1; num < sorted.size(); ++num) {
    lower.add(sorted[num - 1] - origin);
    if (num < fewest) continue;
    const Sums upper = upper_of(lower);
    const double deviation = std::max(std::sqrt(lower.rest() / lower.num), noise);
    const double distance = upper.mean() - lower.mean(), gap = sorted[num] - sorted[num - 1];
    if (distance < std::max(least_between_means, least_deviations * deviation)) continue;
    // Of few values the deviation is hardly known.
    if (gap < std::max(least_between_parts, (1 + 4 / lower.num) * deviation)) continue;
    const double gain = likelihood(lower, noise) + likelihood(upper, noise) - of_one;
    if (gain <= most) continue;
    most = gain;
    best = num;
  }
  return best;
}

/// The first so many of sorted values.
Reference reference_of(std::vector<double> values, std::size_t num) {
  Reference reference;
  if (num >= values.size()) {
    reference.cut = std::numeric_limits<double>::infinity();
    reference.freedom = efficiency_of_mad * (static_cast<double>(num) - 1);
    reference.middle = middle_of(std::move(values));
    return reference;
  }
  reference.cut = (values[num - 1] + values[num]) / 2;
  reference.freedom = static_cast<double>(num) - 1;
  values.resize(num);
  Sums sums;
  for (const double value : values) sums.add(value - values.front());
  reference.middle = middle_of(std::move(values));
  reference.middle.spread = std::sqrt(sums.rest() / std::max(reference.freedom, 1.0));
  return reference;
}

}  // namespace

Middle middle_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  Middle middle;
  middle.num = values.size();
  if (values.empty()) return middle;
  middle.median = median_in_place(values);
  for (double& value : values) value = std::abs(value - middle.median);
  middle.spread = 1.4826 * median_in_place(values);
  return middle;
}

Reference majority(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::ranges::sort(values);
  auto num = static_cast<std::size_t>(std::ceil(share_of_majority * static_cast<double>(values.size())));
  while (num > 0 && num < values.size() && values[num] - values[num - 1] < least_between_means) ++num;
  return reference_of(std::move(values), num);
}

Reference lowest_cluster(std::vector<double> values, double noise, double least_share) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::ranges::sort(values);
  noise = std::max(noise, least_noise);
  const auto fewest =
      static_cast<std::size_t>(std::max(2.0, std::ceil(least_share * static_cast<double>(values.size()))));
  std::size_t num = values.size();
  while (num > fewest) {
    const std::size_t lower = lower_part(std::span(values).first(num), fewest, noise);
    if (lower == num) break;
    num = lower;
  }
  return reference_of(std::move(values), num);
}

}  // namespace leadline::diagnosis
