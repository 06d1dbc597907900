// SPDX-License-Identifier: Apache-2.0
// Planted faults of every kind on machines that scatter as real ones do: found, named rightly, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "made_up.hpp"
#include "synthetic/faults.hpp"

namespace leadline::diagnosis::diagnose_faults_test {
namespace {

using synthetic::FaultKind;
using synthetic::Machine;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Ge;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

/// 8 leaf switches of 8 hosts with 4 ranks on 2 sockets: 256 ranks.
constexpr Shape usual{8, 8, 4, 2};

/// A rail must have less than a quarter of the ranks, or the better quarter of a receiver's pairs may be within it.
constexpr Shape for_rails{8, 4, 8, 2};

Machine machine_with(const Shape& shape, std::uint64_t seed, const synthetic::ScenarioSettings& settings) {
  Machine machine = machine_of(shape);
  machine.seed = seed;
  machine.faults = random_scenario(machine, seed, settings);
  return machine;
}

class each_kind : public testing::TestWithParam<FaultKind> {};

TEST_P(each_kind, is_found_and_named) {
  synthetic::ScenarioSettings settings;
  settings.kinds = {GetParam()};
  settings.factor_low = settings.factor_high = 1.5;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Machine machine = machine_with(GetParam() == FaultKind::rail ? for_rails : usual, seed, settings);
    const Diagnosis diagnosis = Measured(machine).diagnosis();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
    const Fault& fault = diagnosis.faults.front();
    EXPECT_NEAR(fault.ratio, 1.5, 0.1);
    EXPECT_LT(fault.ratio_low, fault.ratio);
    EXPECT_GT(fault.ratio_high, fault.ratio);
    EXPECT_LT(fault.p_value, 0.01);
    EXPECT_EQ(fault.persistence, Persistence::persistent);
    EXPECT_NEAR(fault.ratio_alone, 1.5, 0.15);
    EXPECT_FALSE(fault.name.empty());
    EXPECT_FALSE(fault.advice.empty());
    EXPECT_FALSE(fault.ruled_out.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(faults, each_kind, testing::ValuesIn(possible_kinds(machine_of(usual))),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

class each_seed : public testing::TestWithParam<std::uint64_t> {};

TEST_P(each_seed, without_faults_nothing_is_found) {
  Machine machine = machine_of(usual);
  machine.seed = GetParam();
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  EXPECT_THAT(faults_of(diagnosis), IsEmpty());
  EXPECT_EQ(diagnosis.num_measured, diagnosis.num_pairs);
  EXPECT_EQ(diagnosis.classes.size(), 4U);
}

TEST_P(each_seed, two_faults_at_once_are_both_found) {
  synthetic::ScenarioSettings settings;
  settings.num_faults = 2;
  settings.factor_low = 1.3;
  settings.factor_high = 3;
  const Machine machine = machine_with(for_rails, GetParam(), settings);
  EXPECT_THAT(faults_of(Measured(machine).diagnosis()), UnorderedElementsAreArray(faults_of(machine)));
}

TEST_P(each_seed, what_half_round_trips_blur_is_found) {
  // The mean of there and back: one way shows by half in both cells.
  synthetic::ScenarioSettings settings;
  settings.kinds = {FaultKind::host, FaultKind::port, FaultKind::link, FaultKind::uplink};
  settings.factor_low = settings.factor_high = 1.5;
  Machine machine = machine_with(usual, GetParam(), settings);
  machine.direction = Direction::semidirectional;
  EXPECT_EQ(faults_of(Measured(machine).diagnosis()), faults_of(machine));
}

INSTANTIATE_TEST_SUITE_P(seeds, each_seed, testing::Range<std::uint64_t>(10, 16));

TEST(retest, tells_faults_that_need_company) {
  Machine machine = machine_of(usual);
  machine.faults = {planted({ComponentKind::link, -1, 3, 40, -1}), planted({ComponentKind::port, -1, 20, -1, -1})};
  machine.faults[0].lasts = Persistence::only_under_load;
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(diagnosis.faults.size(), 2U) << "the port weighs more";
  EXPECT_EQ(diagnosis.faults[0].persistence, Persistence::persistent);
  EXPECT_NEAR(diagnosis.faults[0].ratio_alone, 1.5, 0.1);
  EXPECT_EQ(diagnosis.faults[1].component.kind, ComponentKind::link);
  EXPECT_EQ(diagnosis.faults[1].persistence, Persistence::only_under_load);
  EXPECT_NEAR(diagnosis.faults[1].ratio_alone, 1, 0.1);
}

TEST(retest, acquits_pairs_that_were_disturbed_once) {
  Machine machine = machine_of(usual);
  machine.noise.disturbed_probability = 3e-4;  // some 20 of 65,280
  machine.faults = {planted({ComponentKind::pair, -1, 100, 17, -1}, 2)};
  Measured measured(machine);
  std::uint32_t num_disturbed = 0;
  for (std::uint32_t from = 0; from < 256; ++from) {
    for (std::uint32_t to = 0; to < 256; ++to) {
      const double beyond = from == to ? 0 : measured.logarithm(Symptom::slow, from, to);
      num_disturbed += beyond > std::log(1.4 * measured.simulator().usual_ns(from, to)) ? 1 : 0;
    }
  }
  EXPECT_GE(num_disturbed, 10U);
  EXPECT_EQ(faults_of(measured.diagnosis()), faults_of(machine));
}

TEST(retest, is_not_needed_for_components) {
  Machine machine = machine_of(usual);
  machine.faults = {planted({ComponentKind::host, -1, 3, -1, -1})};
  Measured measured(machine);
  Question question = measured.question();
  question.retest = {};
  const Diagnosis diagnosis = diagnose(question);
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].persistence, Persistence::not_retested);
  EXPECT_EQ(diagnosis.faults[0].ratio_alone, 0);
}

TEST(evidence, of_a_fault_are_pairs_that_belong_to_it) {
  Machine machine = machine_of(usual);
  machine.faults = {planted({ComponentKind::port, -1, 9, -1, -1}, 2, FaultDirection::in)};
  Measured measured(machine);
  const Diagnosis diagnosis = measured.diagnosis();
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  const Fault& fault = diagnosis.faults.front();
  EXPECT_EQ(fault.num_pairs, 4U * 252);
  EXPECT_EQ(fault.pairs.size(), 8U);
  for (const ShownPair& pair : fault.pairs) {
    EXPECT_NE(pair.from / 4, 9);
    EXPECT_EQ(pair.to / 4, 9);
    const auto from = static_cast<std::uint32_t>(pair.from), to = static_cast<std::uint32_t>(pair.to);
    EXPECT_NEAR(std::log(pair.measured), measured.logarithm(Symptom::slow, from, to), 1e-3);
    EXPECT_NEAR(pair.measured / pair.expected, fault.ratio, 1e-6);
  }
}

TEST(unsteady, components_have_long_means_and_usual_medians) {
  Machine machine = machine_of({4, 4, 4, 2});
  machine.faults = {planted({ComponentKind::port, -1, 5, -1, -1}, 1)};
  machine.num_batches = 100;
  machine.faults[0].loss = 0.06;  // every pair loses about as many of 500 messages, and its median batch none
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].symptom, Symptom::unsteady);
  EXPECT_GT(diagnosis.faults[0].ratio, 1.5);
  EXPECT_THAT(diagnosis.faults[0].pairs, Each(Field(&ShownPair::measured, Ge(1.5)))) << "mean over median";
}

TEST(unsteady, a_port_is_one_fault_though_many_of_its_pairs_saw_no_loss) {
  Machine machine = machine_of({4, 4, 4, 2});
  machine.faults = {planted({ComponentKind::port, -1, 5, -1, -1}, 1)};
  machine.faults[0].loss = 0.01;  // of 100 messages: a third of the pairs lose none
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(diagnosis.faults.size(), 1U);
  EXPECT_EQ(diagnosis.faults[0].component, machine.faults[0].component);
  EXPECT_EQ(diagnosis.faults[0].symptom, Symptom::unsteady);
}

TEST(unsteady, links_are_found_though_many_of_their_pairs_saw_no_loss) {
  for (const FaultDirection direction : {FaultDirection::both, FaultDirection::out}) {
    Machine machine = machine_of({4, 4, 8, 2});
    machine.faults = {planted({ComponentKind::link, -1, 3, 9, -1}, 1, direction)};
    machine.faults[0].loss = 0.01;
    EXPECT_EQ(faults_of(Measured(machine).diagnosis()), faults_of(machine));
  }
}

TEST(unsteady, a_port_that_a_third_of_its_pairs_show_is_no_row_of_links) {
  Machine machine = machine_of({4, 8, 8, 2});
  machine.faults = {planted({ComponentKind::port, -1, 5, -1, -1}, 1)};
  machine.faults[0].loss = 0.005;
  EXPECT_EQ(faults_of(Measured(machine).diagnosis()), faults_of(machine));
}

TEST(unsteady, is_not_asked_for_where_there_are_no_means) {
  Machine machine = machine_of({4, 4, 4, 2});
  machine.faults = {planted({ComponentKind::port, -1, 5, -1, -1}, 1)};
  machine.faults[0].loss = 0.01;
  Measured measured(machine);
  Question question = measured.question();
  question.has_means = false;
  EXPECT_THAT(faults_of(diagnose(question)), IsEmpty());
}

TEST(settings, decide_what_counts) {
  Machine machine = machine_of(usual);
  machine.faults = {planted({ComponentKind::host, -1, 30, -1, -1}, 1.2)};
  Measured measured(machine);
  Question question = measured.question();
  EXPECT_EQ(faults_of(diagnose(question)), faults_of(machine));
  question.settings.threshold = 0.3;
  EXPECT_THAT(faults_of(diagnose(question)), IsEmpty());
  EXPECT_EQ(diagnose(question).settings.threshold, 0.3);
}

}  // namespace
}  // namespace leadline::diagnosis::diagnose_faults_test
