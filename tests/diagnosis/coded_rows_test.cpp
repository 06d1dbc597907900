// SPDX-License-Identifier: Apache-2.0
// Codes of logarithms: there and back within a step; rows: each once, whoever looks, dense or sparse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "diagnosis/rows.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis::coded_rows_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

double there_and_back(double logarithm) { return static_cast<double>(LogCode::value(LogCode::of(logarithm))); }

TEST(log_code, comes_back_within_half_a_step) {
  constexpr double half_step = 0.5 / 2047;
  for (double logarithm = -2; logarithm <= 30; logarithm += 0.000'37) {
    ASSERT_NEAR(there_and_back(logarithm), logarithm, half_step + 1e-5) << "float has 7 digits";
  }
}

TEST(log_code, every_code_is_its_own_value_s) {
  float last = -std::numeric_limits<float>::infinity();
  for (std::uint32_t code = 1; code <= 65'535; ++code) {
    const auto own = static_cast<std::uint16_t>(code);
    const float value = LogCode::value(own);
    ASSERT_EQ(LogCode::of(static_cast<double>(value)), own);
    ASSERT_GT(value, last);
    last = value;
  }
}

TEST(log_code, nothing_stays_nothing) {
  for (const double none : {nan, infinity, -infinity}) EXPECT_TRUE(std::isnan(there_and_back(none))) << none;
}

TEST(log_code, what_lies_outside_is_moved_to_the_end) {
  EXPECT_FLOAT_EQ(LogCode::value(LogCode::of(-1000)), -2);
  EXPECT_EQ(there_and_back(-2.1), there_and_back(-2));
  EXPECT_EQ(LogCode::of(1e300), 65'535);
  EXPECT_GE(there_and_back(1000), 30);
}

using Cells = std::map<std::pair<std::uint32_t, std::uint32_t>, float>;

/// All values, each of which must be shown once.
Cells cells_of(const Rows& rows) {
  Cells cells;
  std::mutex mutex;
  rows.visit([&](std::size_t worker, const Row& row) {
    const std::scoped_lock lock(mutex);
    EXPECT_LT(worker, rows.num_workers());
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      if (std::isnan(row.values[index])) continue;
      EXPECT_TRUE(cells.insert({{row.from, row.partner(index)}, row.values[index]}).second);
    }
  });
  return cells;
}

double made_up_value(std::uint32_t from, std::uint32_t to) {
  return from == to || (from + 3 * to) % 5 == 0 ? nan : 5 + 0.25 * from + 0.01 * to;
}

TEST(coded_rows, sparse_ones_show_what_dense_ones_do) {
  constexpr std::uint32_t num_ranks = 70;  // more than four blocks of rows
  DenseRows dense(num_ranks, 1);
  fill(dense, made_up_value);
  const Cells expected = cells_of(dense);
  EXPECT_GT(expected.size(), 3000U);
  for (const std::size_t num_workers : {1U, 3U}) {
    SparseRows sparse(num_ranks, num_workers);
    for (std::uint32_t from = 0; from < num_ranks; ++from) {
      std::vector<std::uint32_t> partners;
      std::vector<double> logarithms;
      for (std::uint32_t to = num_ranks; to-- > 0;) {  // partners come in any order
        if (std::isnan(made_up_value(from, to))) continue;
        partners.push_back(to);
        logarithms.push_back(made_up_value(from, to));
      }
      sparse.append(partners, logarithms);
    }
    EXPECT_EQ(cells_of(sparse), expected);
  }
}

TEST(coded_rows, are_shown_once_by_any_number_of_workers) {
  DenseRows one(70, 1), many(70, 8);
  fill(one, made_up_value);
  fill(many, made_up_value);
  EXPECT_EQ(cells_of(one), cells_of(many));
}

TEST(coded_rows, that_are_not_set_hold_nothing) {
  EXPECT_TRUE(cells_of(DenseRows(20, 2)).empty());
  SparseRows sparse(20, 2);
  EXPECT_TRUE(cells_of(sparse).empty());
  sparse.append({}, {});
  sparse.append(std::vector<std::uint32_t>{7}, std::vector<double>{4});
  EXPECT_THAT(cells_of(sparse), testing::ElementsAre(testing::Pair(testing::Pair(1, 7), testing::FloatNear(4, 1e-3F))))
      << "rows after the last one appended are empty";
}

TEST(coded_rows, hand_on_what_a_worker_throws) {
  const DenseRows rows(200, 4);
  std::atomic<int> num_rows = 0;
  EXPECT_THROW(rows.visit([&](std::size_t, const Row& row) {
    ++num_rows;
    if (row.from == 5) throw std::runtime_error("not this one");
  }),
               std::runtime_error);
  EXPECT_LE(num_rows, 200);
}

}  // namespace
}  // namespace leadline::diagnosis::coded_rows_test
