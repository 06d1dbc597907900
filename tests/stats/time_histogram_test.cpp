// SPDX-License-Identifier: Apache-2.0
// Histograms of times: where buckets lie, quantiles beside those of the values themselves, merging.
#include "stats/time_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "stats/summary.hpp"

namespace leadline::stats {
namespace {

TEST(TimeHistogram, BucketsFollowOneAnotherAndAreNarrow) {
  for (std::size_t bucket = 0; bucket < TimeHistogram::num_buckets; ++bucket) {
    const double begin = TimeHistogram::begin_of(bucket), end = TimeHistogram::begin_of(bucket + 1);
    EXPECT_LT(begin, end);
    EXPECT_LE((end - begin) / begin, 1.0 / 128 + 1e-12);
    EXPECT_EQ(TimeHistogram::bucket_of(begin), bucket);
    EXPECT_EQ(TimeHistogram::bucket_of(std::nextafter(end, 0)), bucket);
  }
  EXPECT_EQ(TimeHistogram::begin_of(0), 32);
  EXPECT_EQ(TimeHistogram::bucket_of(0), 0u);
  EXPECT_EQ(TimeHistogram::bucket_of(31), 0u);
  EXPECT_EQ(TimeHistogram::bucket_of(1e15), TimeHistogram::num_buckets - 1);
}

TEST(TimeHistogram, OfNothingTellsNothing) {
  const TimeHistogram none;
  EXPECT_EQ(none.num(), 0u);
  for (const double value : {none.mean_ns(), none.max_ns(), none.quantile_ns(0.5)}) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(none.num_above(0), 0u);
}

TEST(TimeHistogram, ItsQuantilesAreThoseOfTheValuesWithinABucket) {
  Random random(7);
  std::vector<double> values;
  TimeHistogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(1000 * std::exp(3 * random.uniform() * random.uniform()));
    histogram.add(values.back());
  }
  const Summary summary = summarize(values);
  EXPECT_EQ(histogram.num(), 20'000u);
  EXPECT_NEAR(histogram.mean_ns(), summary.mean, 1e-9 * summary.mean);
  EXPECT_EQ(histogram.max_ns(), summary.max);
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = quantile_of_sorted(values, q);
    EXPECT_NEAR(histogram.quantile_ns(q), exact, exact / 128) << q;
  }
  const auto above = std::count_if(values.begin(), values.end(), [](double value) { return value >= 2048; });
  EXPECT_EQ(histogram.num_above(2047), static_cast<std::uint64_t>(above));
}

TEST(TimeHistogram, OneValueIsItsOwnGreatest) {
  TimeHistogram histogram;
  histogram.add(1000);
  EXPECT_LE(histogram.quantile_ns(0.999), 1000);
  EXPECT_GE(histogram.quantile_ns(0), 992);
}

TEST(TimeHistogram, MergedIsAsIfAllHadBeenAdded) {
  TimeHistogram low, high, both;
  for (const double time_ns : {100.0, 200.0, 200.0}) low.add(time_ns);
  for (const double time_ns : {5e6, 7e6}) high.add(time_ns);
  both.merge(high);
  both.merge(low);
  both.merge(TimeHistogram());
  EXPECT_EQ(both.num(), 5u);
  EXPECT_DOUBLE_EQ(both.sum_ns(), 12e6 + 500);
  EXPECT_EQ(both.max_ns(), 7e6);
  EXPECT_EQ(both.count_of(TimeHistogram::bucket_of(200)), 2u);
  EXPECT_EQ(both.count_of(TimeHistogram::num_buckets - 1), 0u);
  EXPECT_NEAR(both.quantile_ns(0.5), 200, 2);
}

TEST(TimeHistogram, IsTheSameFromItsParts) {
  TimeHistogram histogram;
  for (const double time_ns : {100.0, 3000.0, 3100.0}) histogram.add(time_ns);
  const TimeHistogram again =
      TimeHistogram::of_parts(histogram.first(), histogram.counts(), histogram.sum_ns(), histogram.max_ns());
  EXPECT_EQ(again.num(), 3u);
  for (const double q : {0.1, 0.5, 1.0}) EXPECT_EQ(again.quantile_ns(q), histogram.quantile_ns(q));
  EXPECT_EQ(again.max_ns(), 3100);
}

}  // namespace
}  // namespace leadline::stats
