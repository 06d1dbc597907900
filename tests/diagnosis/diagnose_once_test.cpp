// SPDX-License-Identifier: Apache-2.0
// Results that nobody measured a second time: single pairs that chance made slow accuse nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

using synthetic::Machine;
using testing::ElementsAre;
using testing::HasSubstr;

Diagnosis measured_once(const Machine& machine, bool knows_network = true) {
  Measured measured(machine);
  Layout layout = measured.layout();
  if (!knows_network) layout.network = {};
  const Question all = measured.question();
  return diagnose({all.rows, layout, {}, all.num_pairs, all.has_means, {}});
}

// A link between hosts of one rank is one pair each way, and now and then a message takes a hundred times as long.
TEST(diagnosis, of_a_result_measured_once_takes_no_single_pair_for_an_unsteady_link) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({PlaceKind::host, -1, 9, -1, -1}, 1)};
  machine.faults.back().loss = 0.02;
  for (machine.seed = 1; machine.seed <= 10; ++machine.seed) {
    EXPECT_EQ(faults_of(measured_once(machine)), faults_of(machine)) << machine.seed;
  }
}

TEST(diagnosis, of_a_result_measured_once_finds_a_slow_link) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({PlaceKind::link, -1, 3, 20, -1})};
  for (machine.seed = 1; machine.seed <= 10; ++machine.seed) {
    EXPECT_EQ(faults_of(measured_once(machine)), faults_of(machine)) << machine.seed;
  }
}

TEST(diagnosis, without_a_network_says_that_hosts_slow_alike_may_share_something) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({PlaceKind::uplink, 0, 1, -1, -1})};
  EXPECT_THAT(measured_once(machine, false).notes, ElementsAre(HasSubstr("8 hosts are slow alike: with --topology")));
}

}  // namespace
}  // namespace leadline::diagnosis
