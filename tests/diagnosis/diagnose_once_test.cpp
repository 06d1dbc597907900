// SPDX-License-Identifier: Apache-2.0
// Results without second measurements: single pairs that are slow by chance are no faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

using synthetic::Machine;
using testing::ElementsAre;

Diagnosis measured_once(const Machine& machine) {
  Measured measured(machine);
  Question question = measured.question();
  question.retest = {};
  return diagnose(question);
}

Diagnosis without_network(const Machine& machine, bool may_learn) {
  Measured measured(machine);
  Layout layout = measured.layout();
  layout.network = {};
  const Question known = measured.question();
  return diagnose({known.rows, layout, {}, known.num_pairs, known.has_means, {}, {}, may_learn});
}

// A link between hosts of one rank is one pair each way, and now and then a message takes a hundred times as long.
TEST(diagnosis, of_a_result_measured_once_takes_no_single_pair_for_an_unsteady_link) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({ComponentKind::host, -1, 9, -1, -1}, 1)};
  machine.faults.back().loss = 0.02;
  for (machine.seed = 1; machine.seed <= 10; ++machine.seed) {
    EXPECT_EQ(faults_of(measured_once(machine)), faults_of(machine)) << machine.seed;
  }
}

TEST(diagnosis, of_a_result_measured_once_finds_a_slow_link) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({ComponentKind::link, -1, 3, 20, -1}, 2)};
  for (machine.seed = 1; machine.seed <= 10; ++machine.seed) {
    EXPECT_EQ(faults_of(measured_once(machine)), faults_of(machine)) << machine.seed;
  }
}

// The uplink makes a wider gap between near and far pairs than the switches do.
TEST(diagnosis, without_a_network_learns_groups_though_one_has_a_slow_uplink) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({ComponentKind::uplink, 0, 1, -1, -1})};
  EXPECT_EQ(faults_of(without_network(machine, true)), faults_of(machine));
}

TEST(diagnosis, of_neighbouring_hosts_slow_alike_says_that_times_cannot_tell_why) {
  Machine machine = machine_of({8, 4, 1, 1});
  machine.faults = {planted({ComponentKind::uplink, 0, 1, -1, -1})};
  const Diagnosis diagnosis = without_network(machine, false);
  EXPECT_THAT(faults_of(diagnosis), ElementsAre());
  EXPECT_THAT(diagnosis.notes, ElementsAre(::testing::StartsWith("8 of 32 hosts take 1.")));
}

}  // namespace
}  // namespace leadline::diagnosis
