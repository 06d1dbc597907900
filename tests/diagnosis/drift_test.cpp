// SPDX-License-Identifier: Apache-2.0
// What all pairs of a round have in common is taken off; what one of them shows stays.
#include "diagnosis/drift.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis::drift_test {
namespace {

using testing::IsEmpty;

constexpr std::uint32_t num_ranks = 64, num_rounds = num_ranks - 1;

/// From 1, by a round robin in which the last rank meets whom the others leave over.
std::int32_t round_of(std::uint32_t from, std::uint32_t to) {
  if (from == to) return 0;
  if (from > to) std::swap(from, to);
  return static_cast<std::int32_t>((to == num_ranks - 1 ? 2 * from : from + to) % num_rounds) + 1;
}

/// Slow for a third of the rounds, and fast for another.
double drift_of(std::int32_t round) { return 0.08 * std::sin(0.1 * round); }

/// 16 hosts of four ranks, whose pairs scatter by 3 %.
class Drifting {
 public:
  Drifting(double drift, bool are_rounds_known) : layout(layout_of(machine_of({4, 4, 4, 1}))), rows(num_ranks, 1) {
    layout.network = {};
    fill(rows, [&](std::uint32_t from, std::uint32_t to) {
      if (from == to) return std::numeric_limits<double>::quiet_NaN();
      Random random(std::min(from, to) * 1000 + std::max(from, to));
      const double inside = layout.host_of[from] == layout.host_of[to] ? -0.5 : 0;
      return 7.5 + inside + 0.1 * (random.uniform() - 0.5) + drift * drift_of(round_of(from, to)) / 0.08;
    });
    for (std::uint32_t from = 0; are_rounds_known && from < num_ranks; ++from) {
      std::vector<std::int32_t> rounds;
      for (std::uint32_t to = 0; to < num_ranks; ++to) rounds.push_back(round_of(from, to));
      rows.set_rounds(from, rounds);
    }
  }

  std::vector<float> found() const {
    const PairClasses classes(layout);
    return find_drift(rows, fit(rows, classes), classes);
  }

  Diagnosis diagnosis() const {
    return diagnose({.rows = [&](Symptom) -> const Rows& { return rows; },
                     .layout = layout,
                     .num_pairs = std::uint64_t{num_ranks} * (num_ranks - 1),
                     .has_means = false});
  }

  Layout layout;
  DenseRows rows;
};

TEST(Drift, IsWhatThePairsOfARoundHaveInCommon) {
  const std::vector<float> found = Drifting(0.08, true).found();
  ASSERT_EQ(found.size(), num_rounds + 1);
  double most = 0;
  for (std::int32_t round = 1; round <= static_cast<std::int32_t>(num_rounds); ++round) {
    const double of_middle =
        static_cast<double>(found[static_cast<std::size_t>(num_rounds / 2)]) - drift_of(num_rounds / 2);
    most = std::fmax(
        most, std::abs(static_cast<double>(found[static_cast<std::size_t>(round)]) - of_middle - drift_of(round)));
  }
  EXPECT_LT(most, 0.04);
}

TEST(Drift, IsNothingWhereRoundsDifferByChanceOnly) { EXPECT_THAT(Drifting(0, true).found(), IsEmpty()); }

TEST(Drift, IsUnknownWhereRoundsAre) { EXPECT_THAT(Drifting(0.08, false).found(), IsEmpty()); }

TEST(Drift, IsTakenOffEveryPair) {
  const Drifting measured(0.08, true);
  const std::vector<float> drift = measured.found();
  std::vector<std::vector<float>> before(num_ranks);
  measured.rows.visit(
      [&](std::size_t, const Row& row) { before[row.from].assign(row.values.begin(), row.values.end()); });
  without_drift(measured.rows, drift)->visit([&](std::size_t, const Row& row) {
    for (std::uint32_t to = 0; to < num_ranks; ++to) {
      if (to == row.from) continue;
      EXPECT_FLOAT_EQ(row.values[to], before[row.from][to] - drift[static_cast<std::size_t>(round_of(row.from, to))]);
    }
  });
}

TEST(Drift, MakesNoHostSlowInside) {
  EXPECT_THAT(faults_of(Drifting(0.08, true).diagnosis()), IsEmpty());
  EXPECT_THAT(faults_of(Drifting(0.08, false).diagnosis()), testing::Not(IsEmpty()));  // else this shows nothing
}

}  // namespace
}  // namespace leadline::diagnosis::drift_test
