// SPDX-License-Identifier: Apache-2.0
// Which operations, and which groups of hosts.
#include "bench/collective/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bench/collective/ring.hpp"
#include "core/error.hpp"

namespace leadline::bench::collective {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Layout {
  std::vector<std::uint32_t> host_of;

  Layout(std::uint32_t num_hosts, std::uint32_t ranks_a_host) {
    for (std::uint32_t host = 0; host < num_hosts; ++host) host_of.insert(host_of.end(), ranks_a_host, host);
  }
  Plan planned(const CollectiveRequest& request, std::vector<bool> is_absent = {}) const {
    is_absent.resize(host_of.size());
    return plan(request, {static_cast<int>(host_of.size()), 2, host_of}, is_absent);
  }
};

std::string why_not(const Layout& layout, const CollectiveRequest& request) {
  try {
    layout.planned(request);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return "";
}

TEST(CollectivePlan, HasEveryOperationWithEverySize) {
  CollectiveRequest request;
  request.operations = {"alltoall", "allreduce"};
  const Plan plan = Layout(2, 2).planned(request);
  ASSERT_EQ(plan.cells.size(), 4u);
  EXPECT_EQ(plan.cells[1].operation, Operation::alltoall);
  EXPECT_EQ(plan.cells[1].message_size_bytes, 4u << 20);
  EXPECT_EQ(plan.cells[2].operation, Operation::allreduce);
  EXPECT_GT(plan.measuring_s, 0);
}

TEST(CollectivePlan, OneGroupHasAllInTheOrderOfHosts) {
  Layout layout(0, 0);
  layout.host_of = {0, 1, 0, 1};
  const CollectiveRequest request;
  const auto groups = groups_of(layout.planned(request, {false, false, false, true}), 1, 0);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0], ElementsAre(0, 2, 1)) << "those of a host beside each other; one has not come";
}

TEST(CollectivePlan, GroupsAreDisjointAndOthersInEachRound) {
  CollectiveRequest request;
  request.group_hosts = 3;
  const Layout layout(8, 2);
  const Plan plan = layout.planned(request);
  EXPECT_EQ(plan.num_groups, 2u);
  std::set<std::vector<Group>> rounds;
  std::set<std::int32_t> resting;
  for (std::uint32_t round = 0; round < 20; ++round) {
    const auto groups = groups_of(plan, 7, round);
    EXPECT_EQ(groups, groups_of(plan, 7, round));
    std::set<std::int32_t> seen;
    for (const Group& group : groups) {
      EXPECT_EQ(group.size(), 6u);
      seen.insert(group.begin(), group.end());
      for (std::size_t i = 0; i < group.size(); i += 2) EXPECT_EQ(group[i] / 2, group[i + 1] / 2);
    }
    EXPECT_EQ(seen.size(), 12u);
    for (std::int32_t rank = 0; rank < 16; ++rank) {
      if (!seen.contains(rank)) resting.insert(rank);
    }
    rounds.insert(groups);
  }
  EXPECT_GT(rounds.size(), 15u);
  EXPECT_GT(resting.size(), 8u);
}

TEST(CollectivePlan, RefusesWhatIsTooFew) {
  CollectiveRequest request;
  EXPECT_THAT(why_not(Layout(1, 1), request), HasSubstr("needs at least 2 ranks"));
  request.group_hosts = 3;
  EXPECT_THAT(why_not(Layout(2, 2), request), HasSubstr("--group-hosts 3 is more than there are hosts (2 "));
  request.group_hosts = 1;
  EXPECT_THAT(why_not(Layout(4, 1), request), HasSubstr("groups of 1 rank"));
  EXPECT_EQ(why_not(Layout(4, 2), request), "");
  request = {};
  request.operations = {"allreduce", "allreduce"};
  EXPECT_THAT(why_not(Layout(2, 2), request), HasSubstr("--operation has allreduce twice"));
}

TEST(CollectivePlan, ARankHasItsNeighboursAsPartnersOrAll) {
  const Group group{4, 7, 2, 9};
  const std::vector<Operation> rings{Operation::allreduce, Operation::allgather}, all{Operation::alltoall};
  EXPECT_THAT(ring_partners(rings, group, 4), testing::UnorderedElementsAre(7, 9));
  EXPECT_THAT(ring_partners(all, group, 2), testing::UnorderedElementsAre(4, 7, 9));
  EXPECT_THAT(ring_partners(rings, {3, 5}, 5), ElementsAre(3));
}

}  // namespace
}  // namespace leadline::bench::collective
