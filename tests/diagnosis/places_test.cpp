// SPDX-License-Identifier: Apache-2.0
// Each kind of place alone on a small machine without noise: it is found, by its size, and nothing else is.
#include "diagnosis/places.hpp"

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
  const PairClasses classes(measured.layout());
  const Members hosts = members_of(measured.layout().host_of);
  Found result;
  const Effects effects = fit(measured.rows(Symptom::slow), classes);
  result.suspects = find_places(effects, measured.layout(), classes, hosts, {}, result.notes);
  return result;
}

struct Case {
  const char* name;
  Place place;
  Way way = Way::both;
};

class each_place : public testing::TestWithParam<Case> {};

TEST_P(each_place, is_found_alone) {
  Machine machine = quiet();
  machine.faults = {planted(GetParam().place, 1.5, GetParam().way)};
  const Found result = found(machine);
  EXPECT_THAT(places_of(result.suspects), ElementsAre(described(GetParam().place, GetParam().way)));
  ASSERT_FALSE(result.suspects.empty());
  EXPECT_NEAR(result.suspects.front().effect, std::log(1.5), 0.03);
  EXPECT_LT(result.suspects.front().p_value, 5e-3);
  EXPECT_THAT(result.notes, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(places, each_place,
                         testing::Values(Case{"network_switch", {PlaceKind::network_switch, 0, 2, -1, -1}},
                                         Case{"uplink", {PlaceKind::uplink, 0, 1, -1, -1}},
                                         Case{"uplink_out", {PlaceKind::uplink, 0, 3, -1, -1}, Way::out},
                                         Case{"host", {PlaceKind::host, -1, 6, -1, -1}},
                                         Case{"port", {PlaceKind::port, -1, 15, -1, -1}},
                                         Case{"port_out", {PlaceKind::port, -1, 0, -1, -1}, Way::out},
                                         Case{"port_in", {PlaceKind::port, -1, 5, -1, -1}, Way::in},
                                         Case{"inside", {PlaceKind::inside, -1, 9, -1, -1}},
                                         Case{"socket", {PlaceKind::socket, -1, 4, -1, 1}},
                                         Case{"socket_in", {PlaceKind::socket, -1, 4, -1, 0}, Way::in},
                                         Case{"rank", {PlaceKind::rank, -1, 33, -1, -1}},
                                         Case{"rank_out", {PlaceKind::rank, -1, 2, -1, -1}, Way::out}),
                         [](const auto& its) { return std::string(its.param.name); });

TEST(places, a_rail_is_found_where_it_has_less_than_a_quarter_of_the_ranks) {
  Machine machine = quiet({4, 4, 8, 2});
  machine.faults = {planted({PlaceKind::rail, -1, 3, -1, -1})};
  const Found result = found(machine);
  EXPECT_THAT(places_of(result.suspects), ElementsAre(described(machine.faults[0].place, Way::both)));
}

TEST(places, of_a_sound_machine_are_sound) {
  const Found result = found(quiet());
  EXPECT_THAT(result.suspects, IsEmpty());
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(places, a_far_socket_is_worth_a_note) {
  Machine machine = quiet();
  machine.far_socket_ns = 400;  // of some 1.4 us
  const Found result = found(machine);
  ASSERT_EQ(result.suspects.size(), 1U);
  const Suspect& note = result.suspects.front();
  EXPECT_TRUE(note.is_note);
  EXPECT_EQ(note.place, (Place{PlaceKind::socket, -1, -1, -1, 1}));
  EXPECT_NEAR(note.effect, std::log(1 + 400 / 1500.0), 0.08);
}

TEST(places, a_far_socket_hides_no_bad_one) {
  Machine machine = quiet();
  machine.far_socket_ns = 400;
  machine.faults = {planted({PlaceKind::socket, -1, 7, -1, 0}), planted({PlaceKind::port, -1, 2, -1, -1})};
  EXPECT_THAT(places_of(found(machine).suspects), testing::UnorderedElementsAreArray(faults_of(machine)));
}

TEST(places, both_ways_and_one_way_more_is_one_place) {
  Machine machine = quiet();
  const Place port{PlaceKind::port, -1, 6, -1, -1};
  machine.faults = {planted(port, 1.3), planted(port, 1.3, Way::out)};
  EXPECT_THAT(places_of(found(machine).suspects), ElementsAre(described(port, Way::both)));
}

class few_switches : public testing::TestWithParam<std::uint32_t> {};

TEST_P(few_switches, are_judged_by_how_their_hosts_scatter) {
  Machine machine = machine_of({8, GetParam(), 1, 1});
  for (machine.seed = 1; machine.seed <= 20; ++machine.seed) {
    machine.faults.clear();
    EXPECT_THAT(found(machine).suspects, IsEmpty()) << machine.seed;
    machine.faults = {planted({PlaceKind::uplink, 0, 1, -1, -1}, 1.2)};
    EXPECT_THAT(places_of(found(machine).suspects), ElementsAre(described(machine.faults[0].place, Way::both)))
        << machine.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(places, few_switches, testing::Values(3U, 4U, 5U));

TEST(places, of_two_hosts_nobody_can_tell) {
  Machine machine = quiet({2, 1, 4, 2});
  machine.faults = {planted({PlaceKind::host, -1, 1, -1, -1}, 3)};
  const Found result = found(machine);
  EXPECT_THAT(places_of(result.suspects), testing::Not(testing::Contains(testing::HasSubstr("host"))));
  EXPECT_THAT(result.notes, ElementsAre("of two hosts nobody can tell which is slow"));
}

TEST(places, of_hosts_with_one_rank_each) {
  Machine machine = quiet({4, 4, 1, 1});
  machine.faults = {planted({PlaceKind::host, -1, 6, -1, -1})};
  EXPECT_THAT(places_of(found(machine).suspects), ElementsAre(described(machine.faults[0].place, Way::both)))
      << "neither its rank nor its port: nobody can tell";
}

TEST(places, on_one_host_are_ranks) {
  Machine machine = quiet({1, 1, 8, 2});
  machine.faults = {planted({PlaceKind::rank, -1, 5, -1, -1})};
  EXPECT_THAT(places_of(found(machine).suspects), ElementsAre(described(machine.faults[0].place, Way::both)));
}

TEST(places, of_hosts_that_are_not_alike_have_no_rails) {
  Machine machine = quiet();
  machine.num_ranks -= 3;
  machine.faults = {planted({PlaceKind::port, -1, 3, -1, -1})};
  EXPECT_THAT(places_of(found(machine).suspects), ElementsAre(described(machine.faults[0].place, Way::both)));
}

}  // namespace
}  // namespace leadline::diagnosis
