// SPDX-License-Identifier: Apache-2.0
// Bins of columns: they cover every value once, and a quantile lies in the bin of the value that it stands for.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "diagnosis/log_histogram.hpp"

namespace leadline::diagnosis {
namespace {

constexpr double scale = 0.02;

TEST(column_bins, have_edges_that_ascend_and_are_symmetric) {
  const ColumnBins bins(scale);
  for (std::size_t index = 0; index < ColumnBins::num; ++index) {
    EXPECT_LT(bins.edge(index), bins.edge(index + 1)) << index;
    EXPECT_DOUBLE_EQ(bins.edge(index), -bins.edge(ColumnBins::num - index)) << index;
  }
  EXPECT_DOUBLE_EQ(bins.edge(ColumnBins::a_side + 1), scale / 4) << "the middle one is half a scale wide";
  EXPECT_DOUBLE_EQ(bins.edge(ColumnBins::num), 1024 * scale);
}

TEST(column_bins, a_value_lies_between_the_edges_of_its_bin) {
  const ColumnBins bins(scale);
  for (std::size_t index = 0; index < ColumnBins::num; ++index) {
    const double width = bins.edge(index + 1) - bins.edge(index);
    for (const double share : {0.001, 0.5, 0.999}) {
      EXPECT_EQ(bins.index_of(static_cast<float>(bins.edge(index) + share * width)), index) << share;
    }
  }
}

TEST(column_bins, grow_with_their_values) {
  const ColumnBins bins(scale);
  std::size_t last = 0;
  for (double value = -30; value < 30; value += 0.001) {
    const std::size_t index = bins.index_of(static_cast<float>(value));
    ASSERT_GE(index, last) << value;
    last = index;
  }
}

TEST(column_bins, what_lies_outside_is_in_the_last_one) {
  const ColumnBins bins(scale);
  constexpr float far = std::numeric_limits<float>::max();
  EXPECT_EQ(bins.index_of(far), ColumnBins::num - 1);
  EXPECT_EQ(bins.index_of(-far), 0U);
  EXPECT_EQ(bins.index_of(1e5F), ColumnBins::num - 1);
}

TEST(column_bins, have_quantiles_within_a_bin_of_the_sorted_values) {
  const ColumnBins bins(scale);
  Random random(1);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<float> values(1 + random.below(300));
    for (float& value : values) value = static_cast<float>((random.uniform() - 0.5) * 0.3);
    std::vector<std::uint32_t> counts(ColumnBins::num);
    for (const float value : values) ++counts[bins.index_of(value)];
    std::sort(values.begin(), values.end());
    for (const double q : {0.25, 0.5}) {
      const double quantile = bins.quantile(counts, q);
      // As many values below it as q says, as far as bins can tell.
      const std::size_t index = bins.index_of(static_cast<float>(quantile));
      const auto below = [&](double limit) {
        return static_cast<double>(std::count_if(values.begin(), values.end(), [&](float v) { return v < limit; }));
      };
      const double wanted = q * static_cast<double>(values.size());
      EXPECT_LE(below(bins.edge(index)), wanted) << turn;
      EXPECT_GE(below(bins.edge(std::min(index + 2, ColumnBins::num))), wanted) << turn;
    }
  }
}

TEST(column_bins, without_counts_know_nothing) {
  EXPECT_TRUE(std::isnan(ColumnBins(scale).quantile(std::vector<std::uint32_t>(ColumnBins::num), 0.25)));
}

}  // namespace
}  // namespace leadline::diagnosis
