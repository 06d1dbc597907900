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
constexpr std::size_t fewest_seldom = 2;     // that lie on multiples, where fewer times occur often
constexpr std::uint64_t fewest_of_each = 5;  // on average
constexpr double most_of_step = 0.05;        // that a time lies off a multiple
constexpr double precision = 0.03;           // of the difference of two times
constexpr double least_step = 1;             // ns

/// A time, ns, and how often it occurs.
struct Often {
  double time = 0;
  std::uint64_t num = 0;
};

/// The times of a class, ascending: those that occur often, and the others.
struct Times {
  std::vector<Often> often;
  std::vector<double> seldom;
};

/// None where many occur often, or where others hold many pairs.
Times times_in(const LogHistogram& histogram) {
  const std::uint64_t all = histogram.num();
  Times times;
  std::uint64_t held = 0;
  const auto counts = histogram.counts();
  for (std::size_t index = 0; index < counts.size(); ++index) {
    const std::uint64_t here = counts[index];
    if (here == 0) continue;
    const std::size_t bin = histogram.first_bin() + index;
    const double time = std::exp(LogHistogram::lowest + (static_cast<double>(bin) + 0.5) / LogHistogram::bins_a_unit);
    if (static_cast<double>(here) < least_share_of_time * static_cast<double>(all)) {
      times.seldom.push_back(time);
      continue;
    }
    times.often.push_back({time, here});
    held += here;
    if (times.often.size() > most_times) return {};
  }
  const bool are_all = static_cast<double>(held) >= least_share_of_all * static_cast<double>(all);
  return are_all && all >= fewest_of_each * times.often.size() ? times : Times{};
}

double off_multiples(double time, double step) { return std::abs(time / step - std::round(time / step)); }

/// The step near `step` of which all times are multiples; 0 = none.
double refined(const std::vector<double>& times, double step) {
  const double first = times.front();
  double best = 0, least = most_of_step;
  for (double multiple = std::ceil(first / step * (1 - precision)); multiple <= first / step * (1 + precision);
       ++multiple) {
    if (multiple < 1) continue;
    const double tried = first / multiple;
    double most = 0;
    for (const double time : times) most = std::fmax(most, off_multiples(time, tried));
    if (most < least) best = tried, least = most;
  }
  return best;
}

}  // namespace

double clock_step(std::span<const LogHistogram> times_of_classes) {
  std::vector<Times> classes;
  std::vector<double> all;
  double step = std::numeric_limits<double>::infinity();
  bool are_enough = false;
  for (const LogHistogram& histogram : times_of_classes) {
    const Times& times = classes.emplace_back(times_in(histogram));
    for (std::size_t index = 1; index < times.often.size(); ++index)
      step = std::fmin(step, times.often[index].time - times.often[index - 1].time);
    are_enough = are_enough || times.often.size() >= fewest_times;
    for (const Often& one : times.often) all.push_back(one.time);
  }
  std::ranges::sort(all);
  if (all.empty() || !(step >= least_step) || std::isinf(step)) return 0;
  step = refined(all, step);
  if (step == 0) return 0;
  std::size_t num_seldom = 0;
  bool are_multiples = true, are_halves = false;
  for (const Times& times : classes) {
    for (const double time : times.seldom) {
      if (time > most_of_step * step * LogHistogram::bins_a_unit) continue;  // bins are too wide to tell
      ++num_seldom;
      are_multiples = are_multiples && off_multiples(time, step / 2) <= 2 * most_of_step;  // or between two
    }
    // The median of an even number lies half a step off where the two in the middle differ, which is seldom.
    for (std::size_t index = 1; index + 1 < times.often.size(); ++index) {
      const Often &low = times.often[index - 1], &middle = times.often[index], &high = times.often[index + 1];
      const bool are_next = high.time - low.time < 2.5 * step;
      are_halves = are_halves || (are_next && middle.num < std::min(low.num, high.num));
    }
  }
  if (!are_enough && (num_seldom < fewest_seldom || !are_multiples)) return 0;
  return are_halves ? 2 * step : step;
}

}  // namespace leadline::diagnosis
