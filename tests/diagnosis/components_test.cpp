// SPDX-License-Identifier: Apache-2.0
// Each kind of component alone on a small machine without noise: it is found, by its size, and nothing else is.
#include "diagnosis/components.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

using synthetic::Machine;
using testing::ElementsAre;
using testing::IsEmpty;

/// 4 leaf switches, 4 hosts each, 4 ranks on 2 sockets; hosts scatter a little, or nothing would be unusual.
Machine quiet(const Shape& shape = {}) {
  Machine machine = machine_of(shape);
  machine.noise = synthetic::no_noise();
  machine.noise.host = 0.003;
  machine.noise.pair = 0.003;
  machine.far_socket_ns = 0;
  return machine;
}

struct Found {
  std::vector<Suspect> suspects;
  std::vector<std::string> notes;
};

Found found(const Machine& machine) {
  Measured measured(machine);
  const Setting setting(measured.layout());
  Found result;
  const Effects effects = fit(measured.rows(Symptom::slow), setting.classes);
  result.suspects = find_components(effects, setting, {}, result.notes);
  return result;
}

struct Case {
  const char* name;
  Component component;
  FaultDirection direction = FaultDirection::both;
};

class each_component : public testing::TestWithParam<Case> {};

TEST_P(each_component, is_found_alone) {
  Machine machine = quiet();
  machine.faults = {planted(GetParam().component, 1.5, GetParam().direction)};
  const Found result = found(machine);
  EXPECT_THAT(components_of(result.suspects), ElementsAre(described(GetParam().component, GetParam().direction)));
  ASSERT_FALSE(result.suspects.empty());
  EXPECT_NEAR(result.suspects.front().effect, std::log(1.5), 0.03);
  EXPECT_LT(result.suspects.front().p_value, 5e-3);
  EXPECT_THAT(result.notes, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(components, each_component,
                         testing::Values(Case{"network_switch", {ComponentKind::network_switch, 0, 2, -1, -1}},
                                         Case{"uplink", {ComponentKind::uplink, 0, 1, -1, -1}},
                                         Case{"uplink_out", {ComponentKind::uplink, 0, 3, -1, -1}, FaultDirection::out},
                                         Case{"host", {ComponentKind::host, -1, 6, -1, -1}},
                                         Case{"port", {ComponentKind::port, -1, 15, -1, -1}},
                                         Case{"port_out", {ComponentKind::port, -1, 0, -1, -1}, FaultDirection::out},
                                         Case{"port_in", {ComponentKind::port, -1, 5, -1, -1}, FaultDirection::in},
                                         Case{"inside", {ComponentKind::inside, -1, 9, -1, -1}},
                                         Case{"socket", {ComponentKind::socket, -1, 4, -1, 1}},
                                         Case{"socket_in", {ComponentKind::socket, -1, 4, -1, 0}, FaultDirection::in},
                                         Case{"rank", {ComponentKind::rank, -1, 33, -1, -1}},
                                         Case{"rank_out", {ComponentKind::rank, -1, 2, -1, -1}, FaultDirection::out}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(components, a_rail_is_found_where_it_has_less_than_a_quarter_of_the_ranks) {
  Machine machine = quiet({4, 4, 8, 2});
  machine.faults = {planted({ComponentKind::rail, -1, 3, -1, -1})};
  const Found result = found(machine);
  EXPECT_THAT(components_of(result.suspects),
              ElementsAre(described(machine.faults[0].component, FaultDirection::both)));
}

TEST(components, of_a_sound_machine_are_sound) {
  const Found result = found(quiet());
  EXPECT_THAT(result.suspects, IsEmpty());
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(components, a_far_socket_is_worth_a_note) {
  Machine machine = quiet();
  machine.far_socket_ns = 400;  // of some 1.4 us
  const Found result = found(machine);
  ASSERT_EQ(result.suspects.size(), 1U);
  const Suspect& note = result.suspects.front();
  EXPECT_TRUE(note.is_note);
  EXPECT_EQ(note.component, (Component{ComponentKind::socket, -1, -1, -1, 1}));
  EXPECT_NEAR(note.effect, std::log(1 + 400 / 1500.0), 0.08);
}

TEST(components, a_far_socket_hides_no_bad_one) {
  Machine machine = quiet();
  machine.far_socket_ns = 400;
  machine.faults = {planted({ComponentKind::socket, -1, 7, -1, 0}), planted({ComponentKind::port, -1, 2, -1, -1})};
  EXPECT_THAT(components_of(found(machine).suspects), testing::UnorderedElementsAreArray(faults_of(machine)));
}

TEST(components, both_ways_and_one_way_more_is_one_component) {
  Machine machine = quiet();
  const Component port{ComponentKind::port, -1, 6, -1, -1};
  machine.faults = {planted(port, 1.3), planted(port, 1.3, FaultDirection::out)};
  EXPECT_THAT(components_of(found(machine).suspects), ElementsAre(described(port, FaultDirection::both)));
}

class few_switches : public testing::TestWithParam<std::uint32_t> {};

TEST_P(few_switches, are_judged_by_how_their_hosts_scatter) {
  Machine machine = machine_of({8, GetParam(), 1, 1});
  for (machine.seed = 1; machine.seed <= 20; ++machine.seed) {
    machine.faults.clear();
    EXPECT_THAT(found(machine).suspects, IsEmpty()) << machine.seed;
    machine.faults = {planted({ComponentKind::uplink, 0, 1, -1, -1}, 1.2)};
    EXPECT_THAT(components_of(found(machine).suspects),
                ElementsAre(described(machine.faults[0].component, FaultDirection::both)))
        << machine.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(components, few_switches, testing::Values(3U, 4U, 5U));

TEST(components, of_two_hosts_nobody_can_tell) {
  Machine machine = quiet({2, 1, 4, 2});
  machine.faults = {planted({ComponentKind::host, -1, 1, -1, -1}, 3)};
  const Found result = found(machine);
  EXPECT_THAT(components_of(result.suspects), testing::Not(testing::Contains(testing::HasSubstr("host"))));
  EXPECT_THAT(result.notes, ElementsAre("of two hosts it cannot be decided which is slow"));
}

TEST(components, of_hosts_with_one_rank_each) {
  Machine machine = quiet({4, 4, 1, 1});
  machine.faults = {planted({ComponentKind::host, -1, 6, -1, -1})};
  EXPECT_THAT(components_of(found(machine).suspects),
              ElementsAre(described(machine.faults[0].component, FaultDirection::both)))
      << "neither its rank nor its port: nobody can tell";
}

TEST(components, a_host_with_one_fast_rank_is_not_slow_its_other_ranks_are) {
  Machine machine = quiet({4, 4, 8, 1});
  for (std::int32_t rank = 9; rank < 16; ++rank)
    machine.faults.push_back(planted({ComponentKind::rank, -1, rank, -1, -1}, 1.4 + 0.05 * rank));
  EXPECT_THAT(components_of(found(machine).suspects), testing::UnorderedElementsAreArray(faults_of(machine)));
}

TEST(components, on_one_host_are_ranks) {
  Machine machine = quiet({1, 1, 8, 2});
  machine.faults = {planted({ComponentKind::rank, -1, 5, -1, -1})};
  EXPECT_THAT(components_of(found(machine).suspects),
              ElementsAre(described(machine.faults[0].component, FaultDirection::both)));
}

TEST(components, of_hosts_that_are_not_alike_have_no_rails) {
  Machine machine = quiet();
  machine.num_ranks -= 3;
  machine.faults = {planted({ComponentKind::port, -1, 3, -1, -1})};
  EXPECT_THAT(components_of(found(machine).suspects),
              ElementsAre(described(machine.faults[0].component, FaultDirection::both)));
}

}  // namespace
}  // namespace leadline::diagnosis
