// SPDX-License-Identifier: Apache-2.0
// When a size is done, and that the intervals hold the true value as often as they say: simulated measurements on a
// congested fat tree.
#include "bench/bisection/stopping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "schedule/pattern.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::bisection {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;
using testing::Lt;

BisectionRequest request(double precision, std::uint64_t rounds) {
  BisectionRequest request;
  request.precision = precision;
  request.rounds = rounds;
  return request;
}

/// After which patterns a run stops, without a limit.
StopReason after(Stopping& stopping, const std::vector<double>& means) {
  for (const double mean : means) stopping.add(mean);
  return stopping.decide(0, 0);
}

TEST(stopping, looks_at_precision_from_20_on_and_after_every_growth_by_a_quarter) {
  Stopping stopping(request(0.01, 1000));
  std::vector<int> looks;
  for (int num = 1; num <= 120; ++num) {
    stopping.add(num % 2 == 0 ? 1e9 : 1.0001e9);
    if (stopping.decide(0, 0) == StopReason::precision) looks.push_back(num);
  }
  EXPECT_THAT(looks, ElementsAre(20, 25, 31, 38, 47, 58, 72, 90, 112));
}

TEST(stopping, goes_on_while_the_interval_is_wide) {
  Stopping stopping(request(0.01, 1000));
  for (int num = 1; num <= 200; ++num) EXPECT_EQ(after(stopping, {num % 2 == 0 ? 1.0 : 2.0}), StopReason::not_stopped);
  EXPECT_EQ(stopping.interval().num, 200u);
  EXPECT_EQ(stopping.interval().mean, 1.5);
  EXPECT_NEAR(stopping.interval().half_width, 1.971957 * 0.5 / std::sqrt(199.0), 1e-6);
}

TEST(stopping, needs_a_half_width_below_the_precision) {
  const auto is_done = [](double deviation) {
    Stopping stopping(request(0.01, 1000));
    std::vector<double> means;
    for (int num = 0; num < 10; ++num) means.insert(means.end(), {100 - deviation, 100 + deviation});
    return after(stopping, means) == StopReason::precision;
  };
  // Student's t of 19 degrees of freedom is 2.0930; so many samples have the half-width 2.0930 / sqrt(19) * deviation.
  EXPECT_TRUE(is_done(2.07));
  EXPECT_FALSE(is_done(2.09));
}

TEST(stopping, by_rounds) {
  Stopping three(request(0.01, 3));
  EXPECT_EQ(after(three, {1, 1}), StopReason::not_stopped);
  EXPECT_EQ(after(three, {1}), StopReason::rounds);
  Stopping twenty(request(0.01, 20));
  EXPECT_EQ(after(twenty, std::vector(20, 5.0)), StopReason::precision) << "what was asked for counts first";
  Stopping never(request(0, 40));
  for (int num = 1; num < 40; ++num) EXPECT_EQ(after(never, {5}), StopReason::not_stopped);
  EXPECT_EQ(after(never, {5}), StopReason::rounds);
}

TEST(stopping, by_time) {
  Stopping stopping(request(0.01, 3));
  stopping.add(1);
  EXPECT_EQ(stopping.decide(9.9, 10), StopReason::not_stopped);
  EXPECT_EQ(stopping.decide(10, 10), StopReason::time_limit);
  EXPECT_EQ(stopping.decide(1e9, 0), StopReason::not_stopped) << "0 is no limit";
  after(stopping, {1, 1});
  EXPECT_EQ(stopping.decide(11, 10), StopReason::rounds);
}

TEST(stopping, never_by_precision_where_a_mean_is_no_number) {
  Stopping stopping(request(0.01, 1000));
  std::vector<double> means(20, 1.0);
  means[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(after(stopping, means), StopReason::not_stopped);
}

constexpr int num_hosts = 64, num_leaves = 8;

/// Two levels, 8 leaves of 8 hosts each, 8 spines: full bisection bandwidth, if routes were not fixed by their
/// destination. A connection gets its share of the fullest link on its route.
std::array<double, num_hosts> shares_on_fat_tree(const schedule::Pattern& pattern) {
  constexpr auto leaf = [](std::int32_t host) { return static_cast<std::size_t>(host / num_leaves); };
  constexpr auto spine = [](std::int32_t to) { return static_cast<std::size_t>(to % num_leaves); };
  std::array<std::array<int, num_leaves>, num_leaves> up{}, down{};
  for (std::int32_t host = 0; host < num_hosts; ++host) {
    const std::int32_t to = pattern.send_to[static_cast<std::size_t>(host)];
    if (leaf(host) == leaf(to)) continue;
    ++up[leaf(host)][spine(to)];
    ++down[spine(to)][leaf(to)];
  }
  std::array<double, num_hosts> shares{};
  for (std::int32_t host = 0; host < num_hosts; ++host) {
    const std::int32_t to = pattern.send_to[static_cast<std::size_t>(host)];
    const int fullest = std::max({1, up[leaf(host)][spine(to)], down[spine(to)][leaf(to)]});
    shares[static_cast<std::size_t>(host)] = leaf(host) == leaf(to) ? 1.0 : 1.0 / fullest;
  }
  return shares;
}

double mean_share(std::uint64_t seed, std::uint64_t index) {
  static const std::vector<std::int32_t> ranks = schedule::participants_of({num_hosts});
  const auto shares = shares_on_fat_tree(schedule::random_pattern({num_hosts}, ranks, seed, index));
  return std::accumulate(shares.begin(), shares.end(), 0.0) / num_hosts;
}

/// Mean over 4,000,000 patterns, which leaves a standard error of 0.003 %.
constexpr double true_share = 0.74146;

constexpr double noise_deviation = 0.05, disturbed_share = 0.01, disturbed_slowdown = 3;

/// What a connection's bandwidth is multiplied with: log-normal, and sometimes much less.
double noise(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  const double factor = std::exp(noise_deviation * radius * std::cos(2 * std::numbers::pi * random.uniform()));
  return random.uniform() < disturbed_share ? factor / disturbed_slowdown : factor;
}

double mean_noise() {
  return std::exp(noise_deviation * noise_deviation / 2) * (1 - disturbed_share + disturbed_share / disturbed_slowdown);
}

/// A measurement with a seed of its own, pattern by pattern, as far as it has been asked for.
class SimulatedMeasurement {
 public:
  explicit SimulatedMeasurement(std::uint64_t seed) : seed_(seed), noise_(seed, 1), baseline_noise_(seed, 2) {}

  /// The next pattern; a connection alone has 1. One of its connections is measured alone, too.
  double next_pattern() {
    static const std::vector<std::int32_t> ranks = schedule::participants_of({num_hosts});
    auto rates = shares_on_fat_tree(schedule::random_pattern({num_hosts}, ranks, seed_, next_++));
    for (double& rate : rates) rate *= noise(noise_);
    const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / num_hosts;
    const double drawn = rates[baseline_noise_.below(num_hosts)];
    samples_.push_back({drawn, noise(baseline_noise_), drawn - mean});
    return mean;
  }

  const std::vector<stats::PairedSample>& samples() const { return samples_; }

 private:
  std::uint64_t seed_, next_ = 0;
  Random noise_, baseline_noise_;
  std::vector<stats::PairedSample> samples_;
};

constexpr int num_measurements = 500;

struct Coverage {
  double ebb = 0, contention_share = 0;  ///< share of measurements whose interval held the true value
  double num_patterns = 0;               ///< mean
};

bool holds(double mean, double half_width, double true_value) { return std::abs(mean - true_value) <= half_width; }

Coverage simulate(const BisectionRequest& asked, StopReason expected) {
  Coverage coverage;
  for (std::uint64_t seed = 1; seed <= num_measurements; ++seed) {
    SimulatedMeasurement measurement(seed);
    Stopping stopping(asked);
    StopReason reason = StopReason::not_stopped;
    while (reason == StopReason::not_stopped) {
      stopping.add(measurement.next_pattern());
      reason = stopping.decide(0, 0);
    }
    EXPECT_EQ(reason, expected);
    const Interval ebb = stopping.interval();
    const stats::MeanInterval share = stats::paired_ratio_interval(measurement.samples());
    coverage.ebb += holds(ebb.mean, ebb.half_width, true_share * mean_noise());
    coverage.contention_share += holds(share.mean, share.half_width, true_share);
    coverage.num_patterns += static_cast<double>(ebb.num);
  }
  for (double* value : {&coverage.ebb, &coverage.contention_share, &coverage.num_patterns}) *value /= num_measurements;
  return coverage;
}

void expect_honest(const Coverage& coverage) {
  EXPECT_THAT(coverage.ebb, AllOf(Ge(0.93), Le(0.97)));
  EXPECT_THAT(coverage.contention_share, AllOf(Ge(0.93), Le(0.97)));
  testing::Test::RecordProperty("ebb", std::to_string(coverage.ebb));
  testing::Test::RecordProperty("contention_share", std::to_string(coverage.contention_share));
  testing::Test::RecordProperty("num_patterns", std::to_string(coverage.num_patterns));
}

TEST(intervals_of_simulated_measurements, know_the_true_value) {
  stats::RunningMean share;
  for (std::uint64_t index = 0; index < 40'000; ++index) share.add(mean_share(1'000'000, index));
  EXPECT_NEAR(share.mean() / true_share, 1, 0.001);
  Random random(1);
  stats::RunningMean factor;
  for (int i = 0; i < 400'000; ++i) factor.add(noise(random));
  EXPECT_NEAR(factor.mean() / mean_noise(), 1, 0.001);
}

TEST(intervals_of_simulated_measurements, hold_it_after_30_rounds) {
  expect_honest(simulate(request(0, 30), StopReason::rounds));
}

TEST(intervals_of_simulated_measurements, hold_it_at_a_precision_of_1_percent) {
  expect_honest(simulate(request(0.01, 100'000), StopReason::precision));
}

TEST(intervals_of_simulated_measurements, hold_it_at_a_precision_of_2_percent) {
  expect_honest(simulate(request(0.02, 100'000), StopReason::precision));
}

// The fewer patterns a stop needs, the more samples stop whose spread is small by luck.
TEST(intervals_of_simulated_measurements, hold_it_at_a_precision_of_3_percent) {
  expect_honest(simulate(request(0.03, 100'000), StopReason::precision));
}

TEST(intervals_of_simulated_measurements, would_be_dishonest_if_they_ended_at_the_first_narrow_one) {
  int num_held = 0;
  for (std::uint64_t seed = 1; seed <= num_measurements; ++seed) {
    SimulatedMeasurement measurement(seed);
    stats::RunningMean means;
    stats::MeanInterval interval;
    do {
      means.add(measurement.next_pattern());
      interval = stats::mean_interval(means);
    } while (!(interval.half_width < 0.03 * interval.mean));
    num_held += holds(interval.mean, interval.half_width, true_share * mean_noise());
  }
  EXPECT_THAT(static_cast<double>(num_held) / num_measurements, Lt(0.93));
}

}  // namespace
}  // namespace leadline::bench::bisection
