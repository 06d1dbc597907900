// SPDX-License-Identifier: Apache-2.0
// Quantiles and tails of Student's t against tables and closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace leadline::stats::student_test {
namespace {

void expect_relative(double value, double expected, double error = 1e-9) {
  EXPECT_LT(std::abs(value / expected - 1), error) << value << " is not " << expected;
}

// Computed with 40 digits from the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4; 2.5 degrees by integration.
TEST(student_t_quantile, is_as_in_tables) {
  struct {
    double degrees_of_freedom, at_95, at_975, at_995;
  } const table[] = {
      {1, 6.313751514675043, 12.7062047361747, 63.65674116287158},
      {2, 2.919985580353726, 4.302652729749464, 9.924843200918293},
      {2.5, 2.558218613594136, 3.574654842003686, 7.163728138948788},
      {3, 2.353363434801824, 3.18244630528371, 5.840909309733357},
      {9, 1.833112932656237, 2.262157162798205, 3.249835541592126},
      {30, 1.697260886593958, 2.042272456301238, 2.749995653567225},
      {200, 1.652508100910878, 1.971896223633909, 2.600634436191558},
      {10000, 1.645006018068607, 1.960201239890047, 2.576321046667829},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(row.degrees_of_freedom);
    expect_relative(student_t_quantile(0.95, row.degrees_of_freedom), row.at_95);
    expect_relative(student_t_quantile(0.975, row.degrees_of_freedom), row.at_975);
    expect_relative(student_t_quantile(0.995, row.degrees_of_freedom), row.at_995);
  }
}

TEST(student_t_quantile, has_closed_forms_of_few_degrees) {
  for (const double p : {1e-6, 0.001, 0.025, 0.2, 0.49, 0.500001, 0.51, 0.75, 0.9, 0.99, 0.999, 0.999999}) {
    SCOPED_TRACE(p);
    expect_relative(student_t_quantile(p, 1), std::tan(std::numbers::pi * (p - 0.5)));
    expect_relative(student_t_quantile(p, 2), (2 * p - 1) / std::sqrt(2 * p * (1 - p)));
  }
}

TEST(student_t_quantile, becomes_the_normal_distributions) {
  // The next terms of the expansion in 1 / degrees are below 1e-11 here.
  const double normal = 1.959963984540054;
  for (const double degrees : {3e5, 1e6, 1.1e6, 1e8, 1e12}) {
    expect_relative(student_t_quantile(0.975, degrees), normal + (std::pow(normal, 3) + normal) / (4 * degrees), 1e-10);
  }
}

TEST(student_t_quantile, is_odd_around_one_half_and_grows) {
  for (const double degrees : {0.3, 1.0, 7.7, 1e4, 2e6}) {
    EXPECT_EQ(student_t_quantile(0.5, degrees), 0);
    double last = -std::numeric_limits<double>::infinity();
    for (int step = 1; step < 64; ++step) {
      const double p = step / 64.0;
      const double quantile = student_t_quantile(p, degrees);
      EXPECT_GT(quantile, last);
      EXPECT_EQ(quantile, -student_t_quantile(1 - p, degrees));
      last = quantile;
    }
  }
}

const std::vector<double> abscissas{1e-9, 1e-3, 0.1, 0.5, 1, 1.5, 2.23, 5, 20, 300, 1e5, 1e8};

/// With s = sqrt(degrees of freedom + t^2); each written so that nothing cancels far out.
double closed_form(double t, int degrees_of_freedom) {
  if (degrees_of_freedom == 1) return std::atan2(1, t) / std::numbers::pi;  // 1/2 - atan(t) / pi
  const double s = std::sqrt(degrees_of_freedom + t * t);
  const double rest = degrees_of_freedom / (s * (s + t));  // 1 - t / s
  if (degrees_of_freedom == 2) return rest / 2;
  return rest * rest * (2 + t / s) / 4;  // of 4 degrees: (2 - 3 u + u^3) / 4 with u = t / s
}

TEST(student_t_tail, has_closed_forms_for_few_degrees_of_freedom) {
  for (const double t : abscissas) {
    for (const int degrees_of_freedom : {1, 2, 4}) {
      SCOPED_TRACE(testing::Message() << "t " << t << ", degrees of freedom " << degrees_of_freedom);
      expect_relative(student_t_tail(t, degrees_of_freedom), closed_form(t, degrees_of_freedom));
    }
  }
}

TEST(student_t_tail, far_out_is_a_power_of_t) {
  // Of 10 degrees of freedom it tends to 10^5 / (10 B(5, 1/2)) / t^10, where B(5, 1/2) = 256 / 315.
  for (const double t : {1e4, 1e6, 1e20}) {
    expect_relative(student_t_tail(t, 10), 1e4 * 315 / 256 * std::pow(t, -10), 1e-5);
  }
  EXPECT_EQ(student_t_tail(std::numeric_limits<double>::infinity(), 10), 0);
}

TEST(student_t_tail, is_symmetric_and_falls) {
  for (const double degrees_of_freedom : {1.0, 2.5, 10.0, 30.0}) {
    EXPECT_EQ(student_t_tail(0, degrees_of_freedom), 0.5);
    double last = 0.5;
    for (const double t : abscissas) {
      const double beyond = student_t_tail(t, degrees_of_freedom);
      EXPECT_LT(beyond, last) << t;
      EXPECT_DOUBLE_EQ(student_t_tail(-t, degrees_of_freedom), 1 - beyond) << t;
      last = beyond;
    }
  }
}

TEST(student_t_tail, is_the_inverse_of_the_quantile) {
  for (const double degrees_of_freedom : {1.0, 3.0, 10.0, 30.0, 200.0}) {
    for (const double p : {0.6, 0.9, 0.975, 0.995}) {
      expect_relative(student_t_tail(student_t_quantile(p, degrees_of_freedom), degrees_of_freedom), 1 - p, 1e-7);
    }
  }
}

TEST(student_t_tail, with_many_degrees_of_freedom_is_that_of_the_normal_distribution) {
  for (const double t : {0.5, 1.0, 2.0, 3.0}) {
    expect_relative(student_t_tail(t, 1e7), std::erfc(t / std::numbers::sqrt2) / 2, 1e-5);
  }
}

TEST(student_t_tail, of_nothing_is_nothing) {
  EXPECT_TRUE(std::isnan(student_t_tail(std::numeric_limits<double>::quiet_NaN(), 10)));
}

}  // namespace
}  // namespace leadline::stats::student_test
