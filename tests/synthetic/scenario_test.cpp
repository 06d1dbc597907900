// SPDX-License-Identifier: Apache-2.0
// Random faults: possible ones only, each kind, never two on one host, the same for the same seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.hpp"
#include "small_machine.hpp"
#include "synthetic/faults.hpp"
#include "synthetic/reach.hpp"

namespace leadline::synthetic {
namespace {

using testing::Contains;
using testing::Not;

TEST(scenario, draws_every_kind_and_only_what_the_machine_can_have) {
  const Machine machine = small_machine(32, 4, 4);
  std::set<std::pair<ComponentKind, FaultDirection>> seen;
  ScenarioSettings settings;
  settings.factor_low = 1.1;
  settings.factor_high = 3;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto faults = random_scenario(machine, seed, settings);
    ASSERT_EQ(faults.size(), 1U);
    check(machine, faults[0], "a random fault");
    EXPECT_GE(faults[0].factor, 1.1);
    EXPECT_LE(faults[0].factor, 3);
    seen.insert({faults[0].component.kind, faults[0].direction});
  }
  // Eleven places both ways, ports either way, links from their first end.
  EXPECT_EQ(seen.size(), 14U);
}

TEST(scenario, keeps_faults_apart) {
  const Machine machine = small_machine(32, 4, 4);
  ScenarioSettings settings;
  settings.num_faults = 3;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto faults = random_scenario(machine, seed, settings);
    for (std::size_t a = 0; a < faults.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        EXPECT_FALSE(faults[a].component == faults[b].component) << seed;
        const bool both_small =
            faults[a].component.kind >= ComponentKind::host && faults[b].component.kind >= ComponentKind::host;
        if (!both_small) continue;
        const Reach first(machine, faults[a]), second(machine, faults[b]);
        for (std::uint32_t from = 0; from < 4; ++from)
          EXPECT_FALSE(first.meets(from, from + 1, true) && second.meets(from, from + 1, true)) << seed;
      }
    }
  }
}

TEST(scenario, is_the_same_for_the_same_seed) {
  const Machine machine = small_machine();
  ScenarioSettings settings;
  settings.num_faults = 2;
  EXPECT_EQ(random_scenario(machine, 5, settings), random_scenario(machine, 5, settings));
  EXPECT_NE(random_scenario(machine, 5, settings), random_scenario(machine, 6, settings));
}

TEST(scenario, has_unsteady_faults_where_they_are_wanted) {
  ScenarioSettings settings;
  settings.unsteady_share = 1;
  const auto faults = random_scenario(small_machine(), 1, settings);
  EXPECT_EQ(symptom_of(faults.at(0)), Symptom::unsteady);
  EXPECT_EQ(faults.at(0).factor, 1);
  EXPECT_EQ(faults.at(0).loss, settings.loss);
}

TEST(scenario, of_a_small_machine_has_fewer_kinds) {
  Machine machine = small_machine(4, 1, 4);
  const auto kinds = possible_kinds(machine);
  for (const FaultKind kind : {FaultKind::port, FaultKind::rank, FaultKind::socket, FaultKind::link,
                               FaultKind::network_switch, FaultKind::cable, FaultKind::rail})
    EXPECT_THAT(kinds, Not(Contains(kind)));
  EXPECT_THAT(kinds, Contains(FaultKind::host));
  EXPECT_THAT(kinds, Contains(FaultKind::pair));
  ScenarioSettings settings;
  settings.kinds = {FaultKind::rail};
  EXPECT_THROW(random_scenario(machine, 1, settings), Error);
  settings.kinds = {FaultKind::host};
  settings.num_faults = 5;
  EXPECT_THROW(random_scenario(machine, 1, settings), Error);
}

}  // namespace
}  // namespace leadline::synthetic
