// SPDX-License-Identifier: Apache-2.0
// When a measurement says of itself that it is unfit.
#include "bench/validity_warnings.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/link/validity_warnings.hpp"
#include "bench/topology/validity_warnings.hpp"

namespace leadline::bench {
namespace {

std::string ids_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.id + " ";
  return text;
}

std::vector<bench::link::SliceSummary> fastest(double time_ns) {
  bench::link::SliceSummary summary;
  summary.all.num_pairs = 2;
  summary.all.time_ns_min = time_ns;
  return {summary};
}

Conditions fit() {
  Conditions conditions;
  conditions.ranks_per_core_max = 1;
  conditions.clock = {"test", 20, 25};
  return conditions;
}

std::string of_links(const Conditions& conditions, double fastest_ns, int num_participants = 2) {
  return ids_of(link::validity_warnings(conditions, num_participants, fastest(fastest_ns)));
}

TEST(ValidityWarnings, SaysNothingOfAGoodMeasurement) { EXPECT_EQ(of_links(fit(), 1000), ""); }

TEST(ValidityWarnings, NamesEachConditionThatSpoilsIt) {
  Conditions conditions = fit();
  conditions.ranks_per_core_max = 4;
  EXPECT_EQ(of_links(conditions, 1000), "oversubscribed ");
  conditions = fit();
  conditions.is_bound = false;
  EXPECT_EQ(of_links(conditions, 1000), "not_bound ");
  EXPECT_EQ(of_links(fit(), 1000, 1), "loop_to_itself ");
}

AdapterGroup adapters(const std::string& link, double gigabits_s, std::uint64_t num_ranks,
                      std::set<std::string> hosts) {
  cluster::Adapter adapter;
  adapter.name = "eth0";
  adapter.line_rate_bits_s = 1e9 * gigabits_s;
  adapter.link = link;
  return {adapter, num_ranks, std::move(hosts)};
}

std::string evidence_of(const Conditions& conditions) {
  std::string text;
  for (const Finding& finding : link::validity_warnings(conditions, 2, fastest(1000))) text += finding.evidence;
  return text;
}

TEST(ValidityWarnings, NamesHostsWhoseAdaptersAreSetToLess) {
  Conditions conditions = fit();
  conditions.adapters = {adapters("10 Gb/s", 10, 6, {"node0", "node1", "node2"})};
  EXPECT_EQ(of_links(conditions, 1000), "");
  conditions.adapters.push_back(adapters("1 Gb/s", 1, 2, {"node3"}));
  EXPECT_EQ(of_links(conditions, 1000), "slower_adapters ");
  EXPECT_EQ(evidence_of(conditions), "eth0 of node3: 1 Gb/s; eth0 of most: 10 Gb/s");
  const Finding found = link::validity_warnings(conditions, 2, fastest(1000)).front();
  EXPECT_EQ(found.host_names, std::vector<std::string>{"node3"});
  ASSERT_EQ(found.adapters.size(), 1U);
  EXPECT_EQ(found.adapters[0].name, "eth0");
  EXPECT_EQ(found.adapters[0].bytes_per_s, 1.25e8);
  EXPECT_EQ(found.adapters[0].host_names, std::vector<std::string>{"node3"});
  conditions.adapters[1] = adapters("25 Gb/s", 25, 2, {"node3"});
  EXPECT_EQ(of_links(conditions, 1000), "") << "a faster one is no fault";
  conditions.adapters[1] = adapters("", 0, 2, {"node3"});
  EXPECT_EQ(of_links(conditions, 1000), "") << "nothing is known of it";
}

TEST(ValidityWarnings, NamesSlotsThatCarryLessThanTheNetwork) {
  Conditions conditions = fit();
  conditions.adapters = {adapters("200 Gb/s (4X HDR)", 200, 2, {"node0", "node1"})};
  cluster::Adapter& adapter = conditions.adapters[0].adapter;
  adapter.pcie_bits_s = 126e9;
  adapter.slot = "PCIe 8.0 GT/s x16";
  EXPECT_EQ(of_links(conditions, 1000), "") << "adapter or slot can do no more";
  adapter.possible_slot = "PCIe 16.0 GT/s x16";
  EXPECT_EQ(of_links(conditions, 1000), "narrow_slots ");
  EXPECT_EQ(evidence_of(conditions),
            "eth0 of node0, node1: 200 Gb/s (4X HDR), PCIe 8.0 GT/s x16 of PCIe 16.0 GT/s x16 that it could");
  adapter.pcie_bits_s = 252e9;
  EXPECT_EQ(of_links(conditions, 1000), "");
}

TEST(ValidityWarnings, NamesHostsWhoseMemoryIsSlowerThanThatOfTheOthers) {
  Conditions conditions = fit();
  constexpr double usual = 10 * 1024.0 * 1024 * 1024;
  conditions.memories = {{"node0", usual}, {"node1", 1.1 * usual}, {"node2", 0.72 * usual}};
  EXPECT_EQ(of_links(conditions, 1000), "");
  conditions.memories.push_back({"node3", 0.6 * usual});
  conditions.memories.push_back({"node4", usual});
  EXPECT_EQ(of_links(conditions, 1000), "slow_memory ");
  EXPECT_EQ(evidence_of(conditions),
            "node3 copies 6.000 GiB/s, 0.6 of the others'; median of all 5 hosts: 10.00 GiB/s");
  const Finding found = link::validity_warnings(conditions, 2, fastest(1000)).front();
  EXPECT_EQ(found.host_names, std::vector<std::string>{"node3"});
  ASSERT_EQ(found.numbers.size(), 1U);
  EXPECT_EQ(found.numbers[0].value, 0.6 * usual);
  conditions.memories = {{"node0", usual}, {"node3", 0.6 * usual}};
  EXPECT_EQ(of_links(conditions, 1000), "") << "of two hosts either may be as it should";
}

TEST(ValidityWarnings, DrawsTheLineForTheClockAtFivePercent) {
  EXPECT_EQ(of_links(fit(), 501), "");
  EXPECT_EQ(of_links(fit(), 499), "clock_too_coarse ");
}

TEST(ValidityWarnings, JudgesNoMachineWhereTimesAreSimulated) {
  Conditions conditions = fit();
  conditions.simulated = true;
  conditions.ranks_per_core_max = 8;
  EXPECT_EQ(of_links(conditions, 10), "simulated ");
  EXPECT_EQ(of_links(conditions, 10, 1), "loop_to_itself simulated ");
}

TEST(ValidityWarnings, JudgesTheClockOfATopologyTestByItsFastestExchange) {
  bench::topology::TopologyResult result;
  result.cells.resize(3);  // the third was not measured
  result.cells[0].exchange.min = 2000;
  result.cells[1].exchange.min = 501;
  EXPECT_EQ(ids_of(topology::validity_warnings(fit(), result)), "");
  result.cells[1].exchange.min = 499;
  EXPECT_EQ(ids_of(topology::validity_warnings(fit(), result)), "clock_too_coarse ");

  bench::topology::TopologyResult load;
  load.load.resize(1);
  EXPECT_EQ(ids_of(topology::validity_warnings(fit(), load)), "") << "no exchange was timed";
  load.load[0].num_exchanges = 1;
  load.load[0].time_ns_median = 499;
  EXPECT_EQ(ids_of(topology::validity_warnings(fit(), load)), "clock_too_coarse ");
}

TEST(ValidityWarnings, KnowsNoLoopToItselfInATopologyTest) {
  Conditions conditions = fit();
  conditions.ranks_per_core_max = 2;
  conditions.is_bound = false;
  EXPECT_EQ(ids_of(topology::validity_warnings(conditions, {})), "oversubscribed not_bound ");
  conditions.simulated = true;
  EXPECT_EQ(ids_of(topology::validity_warnings(conditions, {})), "simulated ");
}

}  // namespace
}  // namespace leadline::bench
