// SPDX-License-Identifier: Apache-2.0
// What all pairs of a round have in common is taken off; what one of them shows stays.
#include "diagnosis/drift.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
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

enum class Known : std::uint8_t { nothing, sockets, network };

/// 16 hosts of four ranks, whose pairs scatter by 3 %. Where sockets are known, pairs between those of a host take up
/// to 55 times as long. Of the network's eight switches every two have a cable.
class Drifting {
 public:
  Drifting(double drift, bool are_rounds_known, Known known = Known::nothing)
      : layout(layout_of(machine_of({4, 4, 4, 1}))), rows(num_ranks, 1) {
    layout.network = {};
    if (known == Known::sockets) {
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
        layout.socket_of.push_back(static_cast<std::int32_t>(rank / 2 % 2));
    }
    if (known == Known::network) tell_network();
    fill(rows, [&](std::uint32_t from, std::uint32_t to) {
      if (from == to) return std::numeric_limits<double>::quiet_NaN();
      Random random(std::min(from, to) * 1000 + std::max(from, to));
      const double inside = layout.host_of[from] == layout.host_of[to] ? -0.5 : 0;
      const bool is_between_sockets = known == Known::sockets && inside < 0 && from / 2 != to / 2;
      const double between_sockets = is_between_sockets ? 4 * random.uniform() : 0;
      return 7.5 + inside + between_sockets + 0.1 * (random.uniform() - 0.5) +
             drift * drift_of(round_of(from, to)) / 0.08;
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

 private:
  void tell_network() {
    constexpr std::int32_t num_switches = 8;
    network::Level leaves{"leaf switch", {}, {}};
    for (std::int32_t one = 0; one < num_switches; ++one) {
      leaves.names.push_back("s" + std::to_string(one));
      for (std::int32_t other = 0; other < num_switches; ++other)
        layout.network.hops.push_back(static_cast<std::uint8_t>(one == other ? 0 : 1));
      for (int host = 0; host < 2; ++host) leaves.group_of.push_back(static_cast<std::uint32_t>(one));
    }
    layout.network.source = "file";
    layout.network.levels.push_back(leaves);
  }
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

TEST(Drift, IsSeenWhereTheEndsOfAClassExplainNearlyAllOfItsFewPairs) {
  EXPECT_EQ(Drifting(0.08, true, Known::sockets).found().size(), num_rounds + 1);
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

TEST(Drift, MakesNoCableSlow) {
  EXPECT_THAT(faults_of(Drifting(0.12, true, Known::network).diagnosis()), IsEmpty());
  EXPECT_THAT(faults_of(Drifting(0.12, false, Known::network).diagnosis()),
              testing::Contains(testing::StartsWith("cable")));
}

}  // namespace
}  // namespace leadline::diagnosis::drift_test
