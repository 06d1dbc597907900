// SPDX-License-Identifier: Apache-2.0
// Ranks that cannot form a topology, and grids: what is chosen and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "schedule/edge_list.hpp"
#include "schedule/topology.hpp"

namespace leadline::schedule::topology_fit_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// What a user reads; empty where nothing is wrong.
std::string complaint(const TopologySpec& spec, int num_ranks) {
  try {
    const Topology topology(spec, num_ranks);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

std::string complaint(const std::string& word, int num_ranks) {
  return complaint(parse_topology("--pattern", word, ChannelMode::both_ways, num_ranks).at(0), num_ranks);
}

TopologySpec listed(std::vector<Edge> edges) {
  TopologySpec spec{"my.edges", Shape::edges};
  spec.edges = std::move(edges);
  return spec;
}

TEST(topology_fit, one_rank_forms_nothing) {
  for (const char* word : {"star", "star2", "complete", "ring", "ring2", "torus-2d", "torus-3d", "hypercube", "tree",
                           "halves", "incast", "outcast"}) {
    EXPECT_THAT(complaint(word, 1), AllOf(HasSubstr("1 rank cannot form the topology"), HasSubstr(word),
                                          HasSubstr("Start at least 2 ranks")));
    EXPECT_EQ(complaint(word, 2), "");
  }
  EXPECT_NE(complaint("torus:1", 1), "");
  EXPECT_THAT(complaint("complete", 0), HasSubstr("0 ranks cannot form the topology complete"));
}

TEST(topology_fit, a_star_needs_its_centre) {
  EXPECT_THAT(complaint("star:9", 4),
              AllOf(HasSubstr("4 ranks cannot form the topology star:9"), HasSubstr("no rank 9"), HasSubstr("0 to 3")));
  EXPECT_EQ(complaint("star:3", 4), "");
  EXPECT_NE(complaint("star:4", 4), "");
}

TEST(topology_fit, a_torus_has_as_many_places_as_there_are_ranks) {
  EXPECT_THAT(complaint("torus:3x4", 8),
              AllOf(HasSubstr("8 ranks cannot form the topology torus:3x4"), HasSubstr("3 x 4 is not 8")));
  EXPECT_EQ(complaint("torus:3x4", 12), "");
  EXPECT_NE(complaint("torus:2x2", 8), "");
  EXPECT_NE(complaint("torus:65536x65536x65536", 8), "");
}

TEST(topology_fit, a_hypercube_is_a_power_of_two) {
  EXPECT_THAT(complaint("hypercube", 12), AllOf(HasSubstr("12 ranks cannot form the topology hypercube"),
                                                HasSubstr("power of two"), HasSubstr("Start 8 ranks, or 16")));
}

TEST(topology_fit, not_all_ranks_are_hot) {
  EXPECT_THAT(complaint("incast:4", 4), AllOf(HasSubstr("incast:4"), HasSubstr("1 to 3")));
  EXPECT_NE(complaint("outcast:5", 4), "");
  EXPECT_EQ(complaint("outcast:3", 4), "");
  TopologySpec none{"incast:0", Shape::incast};
  none.num_hot = 0;
  EXPECT_THAT(complaint(none, 4), HasSubstr("incast:0"));
}

TEST(topology_fit, edges_join_two_ranks_that_exist_once) {
  EXPECT_EQ(complaint(listed({{0, 1}, {1, 2}}), 3), "");
  EXPECT_THAT(complaint(listed({}), 3), AllOf(HasSubstr("my.edges"), HasSubstr("no edge")));
  EXPECT_THAT(complaint(listed({{0, 1}, {2, 2}}), 3), AllOf(HasSubstr("my.edges"), HasSubstr("rank 2 with itself")));
  EXPECT_THAT(complaint(listed({{0, 1}, {3, 2}}), 3), AllOf(HasSubstr("edge 2 3"), HasSubstr("0 to 2")));
  EXPECT_THAT(complaint(listed({{0, 1}, {0, -1}}), 3), HasSubstr("does not exist"));
  EXPECT_THAT(complaint(listed({{0, 1}, {1, 2}, {0, 1}}), 3), HasSubstr("edge 0 1 is in it twice"));
  EXPECT_THAT(complaint(listed({{0, 1}, {1, 2}, {2, 1}}), 3), HasSubstr("edge 1 2 is in it twice"));
}

TEST(grid_extents, are_as_even_as_can_be) {
  EXPECT_THAT(grid_extents(12, {0, 0}), ElementsAre(4, 3));
  EXPECT_THAT(grid_extents(12, {0, 0, 0}), ElementsAre(3, 2, 2));
  EXPECT_THAT(grid_extents(64, {0, 0, 0}), ElementsAre(4, 4, 4));
  EXPECT_THAT(grid_extents(7, {0, 0}), ElementsAre(7, 1));
  EXPECT_THAT(grid_extents(1, {0, 0}), ElementsAre(1, 1));
  EXPECT_THAT(grid_extents(30, {0, 0, 0}), ElementsAre(5, 3, 2));
  EXPECT_THAT(grid_extents(2'147'483'647, {0, 0, 0}), ElementsAre(2'147'483'647, 1, 1));
  EXPECT_THAT(grid_extents(1 << 30, {0, 0, 0}), ElementsAre(1024, 1024, 1024));
}

TEST(grid_extents, leave_given_ones_as_they_are) {
  EXPECT_THAT(grid_extents(24, {0, 2, 0}), ElementsAre(4, 2, 3));
  EXPECT_THAT(grid_extents(24, {2, 12}), ElementsAre(2, 12));
  EXPECT_THAT(grid_extents(24, {0, 24}), ElementsAre(1, 24));
}

// The largest is as small as any factors allow: tried against all pairs of divisors.
TEST(grid_extents, have_the_smallest_largest_one) {
  for (int num_ranks = 1; num_ranks <= 400; ++num_ranks) {
    int smallest = num_ranks;
    for (int divisor = 1; divisor <= num_ranks; ++divisor) {
      if (num_ranks % divisor == 0) smallest = std::min(smallest, std::max(divisor, num_ranks / divisor));
    }
    EXPECT_THAT(grid_extents(num_ranks, {0, 0}), ElementsAre(smallest, num_ranks / smallest));
    const std::vector<std::int32_t> three = grid_extents(num_ranks, {0, 0, 0});
    EXPECT_EQ(std::accumulate(three.begin(), three.end(), 1, std::multiplies<>{}), num_ranks);
    EXPECT_TRUE(std::is_sorted(three.rbegin(), three.rend()));
  }
}

TEST(grid_extents, refuse_what_does_not_divide) {
  for (const std::vector<std::int32_t>& wanted :
       std::vector<std::vector<std::int32_t>>{{5, 0}, {3, 4}, {2, 2}, {-2, -4}, {16, 0}}) {
    EXPECT_THROW(grid_extents(8, wanted), Error) << wanted.front();
  }
}

}  // namespace
}  // namespace leadline::schedule::topology_fit_test
