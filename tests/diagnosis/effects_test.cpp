// SPDX-License-Identifier: Apache-2.0
// The additive fit: what is additive is found exactly, and a few bad rows or blocks do not bend the others.
#include "diagnosis/effects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis::effects_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double step = 1.0 / 2047;  // of coded logarithms
constexpr double a_little = 0.015;   // where ends scatter by 0.2: what four sweeps leave

/// Logarithms that classes, senders and receivers explain, and a little that they do not.
struct Additive {
  Layout layout;
  PairClasses classes{layout};
  std::vector<double> centres{6, 6.4, 7, 7.3};
  std::vector<double> out, in;
  double scatter = 0;

  /// 48 ranks.
  explicit Additive(const Shape& shape = {4, 3, 4, 2}) : layout(layout_of(machine_of(shape))) {
    Random random(3);
    for (std::size_t rank = 0; rank < layout.host_of.size(); ++rank) {
      out.push_back(0.2 * (random.uniform() - 0.5));
      in.push_back(0.2 * (random.uniform() - 0.5));
    }
  }
  double operator()(std::uint32_t from, std::uint32_t to) const {
    if (from == to) return nan;
    Random random(from * 1000 + to);
    return centres[classes.of(from, to)] + out[from] + in[to] + scatter * (random.uniform() - 0.5);
  }
};

/// The fit, and of each measured pair what it leaves.
struct Fitted {
  Effects effects;
  std::vector<std::vector<float>> residuals;
};

Fitted fitted(const Layout& layout, const Matrix& matrix, std::size_t num_workers = 1) {
  const PairClasses classes(layout);
  DenseRows rows(static_cast<std::uint32_t>(layout.host_of.size()), num_workers);
  fill(rows, matrix);
  Fitted result{fit(rows, classes), std::vector<std::vector<float>>(rows.num_ranks())};
  rows.visit([&](std::size_t, const Row& row) {
    std::vector<std::uint8_t> scratch(rows.num_ranks());
    residuals_of(result.effects, classes, row, scratch, result.residuals[row.from]);
  });
  return result;
}

double largest(const std::vector<float>& residuals) {
  double most = 0;
  for (const float value : residuals) most = std::fmax(most, std::fabs(static_cast<double>(value)));
  return most;
}

TEST(fit, finds_what_is_additive) {
  const Additive matrix;
  const Fitted found = fitted(matrix.layout, matrix);
  for (std::uint32_t from = 0; from < 48; ++from) {
    EXPECT_LT(largest(found.residuals[from]), a_little) << from;
    EXPECT_TRUE(std::isnan(found.residuals[from][from])) << "a rank has no pair with itself";
  }
  for (std::size_t index = 0; index < 4; ++index) {
    const auto& one = found.effects.classes[index];
    EXPECT_LT(one.spread, 5 * step) << "and most of it much closer";
    EXPECT_EQ(one.num, std::vector<std::uint64_t>({48, 48 * 2, 48 * 12, 48 * 32})[index]);
    EXPECT_NEAR(one.median, matrix.centres[index], 0.1);
  }
  const auto& far = found.effects.classes[3];
  for (std::uint32_t rank = 1; rank < 48; ++rank) {
    EXPECT_NEAR(far.out[rank] - far.out[0], matrix.out[rank] - matrix.out[0], a_little) << rank;
    EXPECT_NEAR(far.in[rank] - far.in[0], matrix.in[rank] - matrix.in[0], a_little) << rank;
    EXPECT_EQ(far.num_out[rank], 32U);
    EXPECT_EQ(far.num_in[rank], 32U);
  }
}

TEST(fit, puts_the_middle_end_at_nothing_and_the_middle_residual_too) {
  Additive matrix;
  matrix.scatter = 0.05;
  const Fitted found = fitted(matrix.layout, matrix);
  const auto& far = found.effects.classes[3];
  for (const auto* effect : {&far.out, &far.in}) {
    EXPECT_EQ(std::ranges::count_if(*effect, [](float value) { return value < 0; }), 24) << "half of them";
  }
  EXPECT_NEAR(far.residuals.quantile(0.5), far.residual_zero, 1e-9);
  EXPECT_EQ(far.residuals.num(), far.num);
  EXPECT_NEAR(far.spread, 1.4826 * 0.05 / 4, 0.004);
}

TEST(fit, is_not_bent_by_bad_rows_and_blocks) {
  Additive matrix({2, 6, 4, 2});  // ranks 0 to 7 below the first leaf switch, 40 to 47 below the last
  matrix.scatter = 0.02;
  const Effects sound = fitted(matrix.layout, matrix).effects;
  const Matrix bad = [&](std::uint32_t from, std::uint32_t to) {
    double value = matrix(from, to);
    if (from == 5 || from == 30) value += 1;        // two bad senders
    if (to == 17) value += 0.5;                     // a bad receiver
    if (from / 4 == 2 && to / 4 == 10) value += 2;  // a bad link
    if (from < 8 && to >= 40) value += 0.3;         // a bad cable
    return value;
  };
  const Fitted found = fitted(matrix.layout, bad);
  const auto& before = sound.classes[3];
  const auto& after = found.effects.classes[3];
  for (std::uint32_t rank = 0; rank < 48; ++rank) {
    const double out = rank == 5 || rank == 30 ? 1 : 0, in = rank == 17 ? 0.5 : 0;
    EXPECT_NEAR(after.out[rank] - before.out[rank], out, 0.02) << rank;
    EXPECT_NEAR(after.in[rank] - before.in[rank], in, 0.02) << rank;
  }
  // So what is bad of blocks is left to be found.
  EXPECT_NEAR(found.residuals[8][41], 2, 0.05) << "the link";
  EXPECT_NEAR(found.residuals[0][44], 0.3, 0.05) << "the cable";
  EXPECT_NEAR(found.residuals[5][44], 0.3, 0.05) << "from a bad sender";
  EXPECT_NEAR(found.residuals[20][44], 0, 0.05);
}

// Of two groups only the sum of what senders of one and receivers of the other show is known.
TEST(fit, finds_senders_like_receivers_below_two_switches_and_one_above_them) {
  Layout layout = layout_of(machine_of({16, 2, 4, 1}));
  layout.network.levels.push_back({"top", {"all"}, std::vector<std::uint32_t>(32, 0)});
  const auto slow = [&](std::uint32_t rank) {
    const std::uint32_t host = layout.host_of[rank];
    return (host < 16 ? host < 6 : host < 24) ? std::log(2 + 0.05 * (host % 16)) : 0;
  };
  const Fitted found = fitted(layout, [&](std::uint32_t from, std::uint32_t to) {
    Random random(from * 1000 + to);
    return from == to ? nan : 7 + slow(from) + slow(to) + 0.05 * (random.uniform() - 0.5);
  });
  const auto& far = found.effects.classes.back();
  for (std::uint32_t rank = 0; rank < 128; ++rank) {
    EXPECT_NEAR(far.out[rank], slow(rank), 0.02) << rank;
    EXPECT_NEAR(far.in[rank], slow(rank), 0.02) << rank;
  }
}

TEST(fit, of_ends_without_sound_partners_explains_all_of_their_pairs) {
  const Layout layout = layout_of(machine_of({8, 4, 4, 1}));
  const auto is_slow = [&](std::uint32_t rank) { return layout.host_of[rank] >= 24; };  // the last leaf switch
  const Fitted found = fitted(layout, [&](std::uint32_t from, std::uint32_t to) {
    Random random(from * 1000 + to);
    const bool is_inside = layout.host_of[from] == layout.host_of[to];
    const double effect = !is_inside && (is_slow(from) || is_slow(to)) ? 1.08 : 0;
    return from == to ? nan : 7 + effect + 0.02 * (random.uniform() - 0.5);
  });
  for (std::uint32_t rank = 96; rank < 128; ++rank) EXPECT_LT(largest(found.residuals[rank]), 0.03) << rank;
}

TEST(fit, knows_the_step_of_the_clock_where_ends_explain_every_pair) {
  const Layout layout = layout_of(machine_of({16, 1, 2, 1}));
  const Effects effects = fitted(layout, [&](std::uint32_t from, std::uint32_t to) {
                            Random random(from * 1000 + to);
                            const bool is_inside = layout.host_of[from] == layout.host_of[to];
                            const double steps =
                                is_inside ? 4 + std::floor(2 * random.uniform()) : 7 + std::floor(3 * random.uniform());
                            return from == to ? nan : std::log(200 * steps);
                          }).effects;
  const auto& inside = effects.classes.front();
  EXPECT_LE(inside.num, inside.num_fitted);
  EXPECT_NEAR(inside.step, std::log(1000.0 / 800), 0.05);
}

TEST(fit, is_the_same_for_any_number_of_workers) {
  Additive matrix;
  matrix.scatter = 0.1;
  const Effects one = fitted(matrix.layout, matrix, 1).effects, many = fitted(matrix.layout, matrix, 5).effects;
  for (std::size_t index = 0; index < one.classes.size(); ++index) {
    EXPECT_EQ(one.classes[index].out, many.classes[index].out);
    EXPECT_EQ(one.classes[index].in, many.classes[index].in);
    EXPECT_EQ(one.classes[index].centre, many.classes[index].centre);
    EXPECT_EQ(one.classes[index].spread, many.classes[index].spread);
  }
}

TEST(fit, of_a_rank_without_pairs_says_nothing) {
  const Additive matrix;
  const Matrix with_hole = [&](std::uint32_t from, std::uint32_t to) {
    return from == 9 || to == 9 ? nan : matrix(from, to);
  };
  const Fitted found = fitted(matrix.layout, with_hole);
  for (const auto& one : found.effects.classes) {
    EXPECT_TRUE(std::isnan(one.out[9]));
    EXPECT_TRUE(std::isnan(one.in[9]));
    EXPECT_EQ(one.num_out[9] + one.num_in[9], 0U);
  }
  EXPECT_LT(largest(found.residuals[8]), a_little) << "and the others do not care";
}

TEST(fit, of_a_rank_that_only_sends_knows_it_as_a_sender) {
  const Additive matrix;
  const Matrix silent = [&](std::uint32_t from, std::uint32_t to) { return to == 9 ? nan : matrix(from, to); };
  const Effects effects = fitted(matrix.layout, silent).effects;
  const auto& far = effects.classes[3];
  EXPECT_TRUE(std::isnan(far.in[9]));
  EXPECT_NEAR(far.out[9] - far.out[0], matrix.out[9] - matrix.out[0], a_little);
}

TEST(fit, of_one_rank_has_nothing_to_fit) {
  const Layout layout = layout_of(machine_of({1, 1, 1, 1}));
  const Effects effects = fitted(layout, [](std::uint32_t, std::uint32_t) { return 6; }).effects;
  for (const auto& one : effects.classes) EXPECT_EQ(one.num, 0U);
}

TEST(fit, of_two_ranks_is_their_mean) {
  const Layout layout = layout_of(machine_of({2, 1, 1, 1}));
  const Fitted found = fitted(layout, [](std::uint32_t from, std::uint32_t) { return from == 0 ? 6 : 6.5; });
  EXPECT_EQ(found.effects.classes[PairClasses::first_between].num, 2U);
  EXPECT_LT(std::fabs(found.residuals[0][1]), 4 * step);
  EXPECT_LT(std::fabs(found.residuals[1][0]), 4 * step);
}

}  // namespace
}  // namespace leadline::diagnosis::effects_test
