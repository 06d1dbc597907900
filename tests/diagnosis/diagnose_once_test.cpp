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

/// Of a matrix, measured once.
Diagnosis of_times(const Layout& layout, const Matrix& matrix) {
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    return matrix(from, to) + 0.004 * static_cast<double>((from * 7 + to * 13) % 5);
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  return diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false});
}

// What shares a slow way is fast with each other.
TEST(diagnosis, names_neighbours_that_are_slow_with_each_other_too) {
  Machine machine = machine_of({16, 1, 1, 1});
  Layout layout = layout_of(machine);
  layout.network = {};
  const Diagnosis diagnosis = of_times(layout, [](std::uint32_t from, std::uint32_t to) {
    const auto effect = [](std::uint32_t host) { return host >= 4 && host < 9 ? std::log(2.4 + 0.1 * host) : 0; };
    return std::log(40e3) + std::max(effect(from), effect(to));
  });
  EXPECT_EQ(diagnosis.faults.size(), 5U);
  for (const Fault& fault : diagnosis.faults) EXPECT_EQ(list_of(fault), FindingList::persistent) << fault.name;
}

// Of the cables of leaf switch 3 one is slow; tables send over it what goes to two of its hosts and to two others.
TEST(diagnosis, finds_one_of_several_cables_that_few_hosts_are_reached_by) {
  const auto passes = [](std::uint32_t inside, std::uint32_t outside) {
    return inside / 8 == 3 && outside / 8 != 3 && (inside == 25 || inside == 28 || outside == 3 || outside == 10);
  };
  const Diagnosis diagnosis = of_times(layout_of(machine_of({8, 4, 1, 1})), [&](std::uint32_t from, std::uint32_t to) {
    return std::log(from / 8 == to / 8 ? 1500 : 2000) + (passes(from, to) || passes(to, from) ? std::log(1.4) : 0);
  });
  EXPECT_THAT(faults_of(diagnosis),
              ElementsAre(described({ComponentKind::uplink, 0, 3, -1, -1}, FaultDirection::both)));
}

}  // namespace
}  // namespace leadline::diagnosis
