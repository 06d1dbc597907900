// SPDX-License-Identifier: Apache-2.0
// Looks for times that are multiples of one number.
#include "diagnosis/clock_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace leadline::diagnosis {
namespace {

constexpr double least_share_of_time = 0.01, least_share_of_all = 0.9;
constexpr std::size_t most_times = 16, fewest_times = 3;
constexpr std::uint64_t fewest_of_each = 5;  // on average
constexpr double most_of_step = 0.05;        // that a time lies off a multiple
constexpr double precision = 0.03;           // of the difference of two times
constexpr double least_step = 1;             // ns

/// The times that occur often in a class, ascending; none where there are many, or where others occur, too.
std::vector<double> few_times(const LogHistogram& times) {
  const std::uint64_t all = times.num();
  std::vector<double> few;
  std::uint64_t held = 0;
  const auto counts = times.counts();
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const std::uint64_t here = counts[bin];
    if (here == 0 || static_cast<double>(here) < least_share_of_time * static_cast<double>(all)) continue;
    few.push_back(std::exp(LogHistogram::lowest + (static_cast<double>(bin) + 0.5) / LogHistogram::bins_a_unit));
    held += here;
    if (few.size() > most_times) return {};
  }
  const bool are_all = static_cast<double>(held) >= least_share_of_all * static_cast<double>(all);
  return are_all && all >= fewest_of_each * few.size() ? few : std::vector<double>{};
}

/// The step near `step` of which all times are multiples; 0 = none.
double refined(const std::vector<double>& times, double step) {
  const double first = times.front();
  double best = 0, least = most_of_step;
  for (double multiple = std::ceil(first / step * (1 - precision)); multiple <= first / step * (1 + precision);
       ++multiple) {
    if (multiple < 1) continue;
    const double tried = first / multiple;
    double most = 0;
    for (const double time : times) most = std::fmax(most, std::abs(time / tried - std::round(time / tried)));
    if (most < least) best = tried, least = most;
  }
  return best;
}

}  // namespace

double clock_step(std::span<const LogHistogram> times_of_classes) {
  std::vector<double> all;
  double step = std::numeric_limits<double>::infinity();
  bool are_enough = false;
  for (const LogHistogram& times : times_of_classes) {
    const std::vector<double> few = few_times(times);
    for (std::size_t index = 1; index < few.size(); ++index) step = std::fmin(step, few[index] - few[index - 1]);
    are_enough = are_enough || few.size() >= fewest_times;
    all.insert(all.end(), few.begin(), few.end());
  }
  std::ranges::sort(all);
  return are_enough && step >= least_step ? refined(all, step) : 0;
}

}  // namespace leadline::diagnosis
