// SPDX-License-Identifier: Apache-2.0
// Which faults are told as one, and what is said of all together.
#include "diagnosis/fault_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leadline::diagnosis {
namespace {

Fault fault_on(ComponentKind kind, std::int32_t host, double ratio) {
  Fault fault;
  fault.component.kind = kind;
  fault.component.first = host;
  fault.host_names = {"node" + std::to_string(host)};
  fault.name = std::string(leadline::name_of(kind)) + " of node" + std::to_string(host);
  fault.hosts = {host};
  fault.ranks = {2 * host, 2 * host + 1};
  fault.ratio = ratio;
  fault.ratio_low = ratio - 0.01;
  fault.ratio_high = ratio + 0.01;
  fault.num_pairs = 10;
  fault.ruled_out = {"not the switch", "not node" + std::to_string(host) + " as a whole"};
  return fault;
}

std::vector<std::string> names_of_groups(std::vector<Fault> faults) {
  std::vector<std::string> names;
  Diagnosis diagnosis;
  diagnosis.faults = std::move(faults);
  for (const FaultGroup& one : fault_groups(diagnosis)) names.push_back(one.fault.name);
  return names;
}

TEST(fault_groups, join_places_of_one_kind) {
  Diagnosis diagnosis;
  for (const std::int32_t host : {4, 3, 5}) {
    diagnosis.faults.push_back(fault_on(ComponentKind::port, host, host));
  }
  const auto groups = fault_groups(diagnosis);
  ASSERT_EQ(groups.size(), 1U);
  const Fault& all = groups.front().fault;
  EXPECT_EQ(all.name, "ports of node[3-5]");
  EXPECT_EQ(all.ratio_low, 3);
  EXPECT_EQ(all.ratio_high, 5);
  EXPECT_EQ(all.num_pairs, 30U);
  EXPECT_THAT(all.ranks, testing::UnorderedElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(all.ruled_out, testing::ElementsAre("not the switch"));
  EXPECT_EQ(groups.front().places.front().worst, diagnosis.faults.data());
}

TEST(fault_groups, leave_a_single_one_as_it_is) {
  Diagnosis diagnosis;
  diagnosis.faults.push_back(fault_on(ComponentKind::port, 4, 2));
  const auto groups = fault_groups(diagnosis);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups.front().is_single());
  EXPECT_EQ(groups.front().fault.name, "port of node4");
  EXPECT_EQ(groups.front().fault.ratio_low, 1.99);
  EXPECT_EQ(groups.front().fault.ruled_out.size(), 2U);
}

TEST(fault_groups, keep_apart_what_shows_something_else) {
  Fault first = fault_on(ComponentKind::host, 1, 2);
  for (const auto& change : std::vector<void (*)(Fault&)>{
           [](Fault& one) { one.symptom = Symptom::unsteady; },
           [](Fault& one) { one.direction = FaultDirection::in; },
           [](Fault& one) { one.persistence = Persistence::only_under_load; },
           [](Fault& one) { one.advice = "Measure again"; },
           [](Fault& one) { one.component.kind = ComponentKind::port; },
           [](Fault& one) { one.phases.emplace().operation = "write"; },
           [](Fault& one) { one.name += " (or target 2)"; },
           [](Fault& one) { one.host_names.clear(); },
       }) {
    Fault other = fault_on(ComponentKind::host, 2, 2);
    EXPECT_EQ(names_of_groups({first, other}).size(), 1U);
    change(other);
    EXPECT_EQ(names_of_groups({first, other}).size(), 2U);
  }
}

TEST(fault_groups, are_of_places_of_hosts_alone) {
  EXPECT_EQ(names_of_groups({fault_on(ComponentKind::link, 1, 2), fault_on(ComponentKind::link, 2, 2)}).size(), 2U);
}

TEST(fault_groups, have_the_grade_of_the_caller) {
  const std::vector<Fault> faults{fault_on(ComponentKind::host, 1, 1.2), fault_on(ComponentKind::host, 2, 4)};
  const std::vector<SeenFault> seen{{&faults[0], nullptr, 1}, {&faults[1], nullptr, 1}};
  EXPECT_EQ(fault_groups(seen).size(), 1U);
  EXPECT_EQ(fault_groups(seen, [](const Fault& one) { return one.ratio > 2 ? 1 : 0; }).size(), 2U);
}

TEST(fault_groups, are_named_by_their_hosts_and_ranks) {
  const auto names_of_two = [](ComponentKind kind) {
    return names_of_groups({fault_on(kind, 1, 2), fault_on(kind, 2, 2)}).front();
  };
  EXPECT_EQ(names_of_two(ComponentKind::host), "hosts node[1-2]");
  EXPECT_EQ(names_of_two(ComponentKind::inside), "the inside of node[1-2]");
  EXPECT_EQ(names_of_two(ComponentKind::socket), "sockets of node[1-2]");
  EXPECT_EQ(names_of_two(ComponentKind::rank), "ranks 2-5 on node[1-2]");
}

}  // namespace
}  // namespace leadline::diagnosis
