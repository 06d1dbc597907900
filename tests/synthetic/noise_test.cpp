// SPDX-License-Identifier: Apache-2.0
// Quantile tables against closed forms, and the scatter against its definition.
#include "synthetic/noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/summary.hpp"

namespace leadline::synthetic {
namespace {

TEST(quantile_table, inverts_the_exponential_distribution_into_its_tails) {
  const QuantileTable table({[](double x) { return -std::expm1(-x); }, [](double x) { return std::exp(-x); }}, 0, 100);
  for (const double u : {1e-12, 1e-6, 0.001, 0.2, 0.4999, 0.5, 0.5001, 0.9, 0.999, 1 - 1e-9}) {
    const double exact = -std::log1p(-u);
    EXPECT_NEAR(table(u), exact, 1e-4 * exact) << u;
  }
  EXPECT_EQ(table(uniform_of(0)), table(1e-300));
  EXPECT_TRUE(std::isfinite(table(uniform_of(~std::uint64_t{0}))));
}

TEST(quantile_table, ascends) {
  const QuantileTable table({[](double x) { return x; }, [](double x) { return 1 - x; }}, 0, 1);
  double before = 0;
  for (int i = 1; i < 10000; ++i) {
    const double value = table(i / 10000.0);
    EXPECT_GT(value, before);
    EXPECT_NEAR(value, i / 10000.0, 1e-9);
    before = value;
  }
}

TEST(uniform, is_never_0_nor_1) {
  EXPECT_GT(uniform_of(0), 0);
  EXPECT_LT(uniform_of(~std::uint64_t{0}), 1);
}

class batches : public testing::TestWithParam<std::uint32_t> {};

TEST_P(batches, have_the_statistics_of_the_batches) {
  const std::uint32_t num = GetParam();
  const NoiseModel model({}, 7, num);
  for (std::uint64_t key = 1; key < 300; ++key) {
    std::vector<double> factors(num);
    model.each_batch(mix64(key), factors);
    const stats::Summary summary = stats::summarize(factors);
    const stats::Summary found = model.batches(mix64(key));
    EXPECT_DOUBLE_EQ(found.min, summary.min);
    EXPECT_DOUBLE_EQ(found.median, summary.median);
    EXPECT_NEAR(found.mean, summary.mean, 1e-12 * summary.mean);
    EXPECT_NEAR(found.p99, summary.p99, 1e-12 * summary.p99);
    EXPECT_NEAR(found.p999, summary.p999, 1e-12 * summary.p999);
    EXPECT_DOUBLE_EQ(found.max, summary.max);
    EXPECT_EQ(model.median(mix64(key)), found.median);
  }
}

INSTANTIATE_TEST_SUITE_P(of, batches, testing::Values(1, 2, 3, 4, 5, 19, 20, 21, 100));

/// Batches drawn through their order statistics must be as independent ones: compared with draws one by one.
TEST(noise, of_batches_is_that_of_independent_draws) {
  Noise noise = no_noise();
  noise.batch = 0.1;
  constexpr int num_measurements = 40'000, num_batches = 20;
  const NoiseModel run_collectively(noise, 3, num_batches), alone(noise, 4, 1);
  double sum = 0, sum_of_squares = 0, own_sum = 0, own_sum_of_squares = 0, within = 0;
  for (std::uint64_t key = 1; key <= num_measurements; ++key) {
    std::vector<double> logs(num_batches);
    run_collectively.each_batch(mix64(key), logs);
    double mean = 0;
    for (double& log : logs) {
      log = std::log(log);
      mean += log / num_batches;
      within += log * log;
    }
    const double median = std::log(run_collectively.median(mix64(key)));
    sum += mean, sum_of_squares += mean * mean;
    std::vector<double> own(num_batches);
    for (std::uint64_t i = 0; i < num_batches; ++i) own[i] = std::log(alone.median(mix64(key * 1000 + i)));
    std::sort(own.begin(), own.end());
    const double own_median = (own[9] + own[10]) / 2;
    own_sum += own_median * own_median, own_sum_of_squares += median * median;
  }
  EXPECT_NEAR(sum / num_measurements, 0, 5e-4);
  // The mean of 20 independent numbers of deviation 0.1; each number's own; medians both ways.
  EXPECT_NEAR(std::sqrt(sum_of_squares / num_measurements), 0.1 / std::sqrt(20.0), 2e-4);
  EXPECT_NEAR(std::sqrt(within / num_measurements / num_batches), 0.1, 5e-4);
  EXPECT_NEAR(std::sqrt(own_sum / num_measurements), std::sqrt(own_sum_of_squares / num_measurements), 3e-4);
}

TEST(noise, has_the_spikes_that_it_says) {
  Noise noise = no_noise();
  noise.spike_probability = 0.1;
  const NoiseModel model(noise, 3, 20);
  std::uint64_t num = 0, num_spikes = 0, num_beyond = 0;
  for (std::uint64_t key = 1; key <= 20'000; ++key) {
    std::vector<double> factors(20);
    model.each_batch(mix64(key), factors);
    for (const double factor : factors) {
      ++num;
      if (factor > 1.001) ++num_spikes;
      if (factor > 1.4) ++num_beyond;
      EXPECT_LE(factor, 1 + noise.spike_most);
      EXPECT_GE(factor, 1 - 1e-12);
    }
  }
  const double share = static_cast<double>(num_spikes) / static_cast<double>(num);
  EXPECT_NEAR(share, 0.1, 0.002);
  EXPECT_NEAR(static_cast<double>(num_beyond) / static_cast<double>(num_spikes), std::pow(2, -1.75), 0.01);
}

TEST(noise, disturbs_as_many_pairs_as_it_says) {
  Noise noise = no_noise();
  noise.disturbed_probability = 0.01;
  const NoiseModel model(noise, 1, 20);
  int num_disturbed = 0;
  for (std::uint64_t key = 1; key <= 100'000; ++key) {
    const double factor = model.of_disturbance(mix64(key));
    if (factor == 1) continue;
    ++num_disturbed;
    EXPECT_GE(factor, 1 + noise.disturbed_scale);
    EXPECT_LE(factor, 1 + noise.spike_most);
  }
  EXPECT_NEAR(num_disturbed, 1000, 150);
}

}  // namespace
}  // namespace leadline::synthetic
