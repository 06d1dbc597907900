// SPDX-License-Identifier: Apache-2.0
// The channels of every shape for up to 64 ranks: mutual, counted right, in one order on both sides.
#include "schedule/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/edge_list.hpp"
#include "schedule/matching.hpp"

namespace leadline::schedule::topology_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int most_ranks = 64;
constexpr ChannelMode all_modes[] = {ChannelMode::answered, ChannelMode::phased, ChannelMode::both_ways,
                                     ChannelMode::one_way};

/// Every third pair or so, some of them written backwards.
std::vector<Edge> some_edges(int num_ranks) {
  std::vector<Edge> edges;
  for (int second = 1; second < num_ranks; ++second) {
    for (int first = 0; first < second; ++first) {
      if ((first * 7 + second * 5) % 3 != 0) continue;
      edges.push_back(second % 2 == 0 ? Edge{first, second} : Edge{second, first});
    }
  }
  if (edges.empty()) edges.push_back({1, 0});
  return edges;
}

/// All words that so many ranks can form, and a list of edges.
std::vector<TopologySpec> all_specs(int num_ranks, ChannelMode mode) {
  std::vector<std::string> words{
      "star",     "star2",    "star2:1", "complete", "complete2", "ring",    "ring2",
      "torus-2d", "torus-3d", "tree",    "halves",   "incast",    "outcast", "star:" + std::to_string(num_ranks - 1)};
  if (num_ranks <= 16) words.push_back("star-each");
  if (num_ranks > 2) words.insert(words.end(), {"incast:2", "outcast:2", "incast:" + std::to_string(num_ranks - 1)});
  if (num_ranks % 2 == 0) words.insert(words.end(), {"torus:2x1x" + std::to_string(num_ranks / 2)});
  if (num_ranks % 4 == 0) words.insert(words.end(), {"torus:2x2x" + std::to_string(num_ranks / 4)});
  if (std::has_single_bit(static_cast<unsigned>(num_ranks))) words.push_back("hypercube");
  std::vector<TopologySpec> specs;
  for (const std::string& word : words) {
    const auto more = parse_topology("--pattern", word, mode, num_ranks);
    specs.insert(specs.end(), more.begin(), more.end());
  }
  TopologySpec listed{"some.edges", Shape::edges, mode};
  listed.edges = some_edges(num_ranks);
  specs.push_back(listed);
  return specs;
}

Topology topology(const std::string& word, int num_ranks) {
  return Topology(parse_topology("--pattern", word, ChannelMode::both_ways, num_ranks).at(0), num_ranks);
}

/// Between every two ranks the same channels, in the same order, and of each channel exactly one end starts.
void expect_mutual(const Topology& topology) {
  const auto num_ranks = static_cast<std::size_t>(topology.num_ranks());
  // A digit a channel, by own rank and partner: 2 = it starts, 1 = it does not; and the same as the partner must see
  // it.
  std::vector<int> seen(num_ranks * num_ranks), turned(num_ranks * num_ranks);
  for (int rank = 0; rank < topology.num_ranks(); ++rank) {
    for (const Channel& channel : topology.channels(rank)) {
      ASSERT_TRUE(channel.partner >= 0 && channel.partner < topology.num_ranks() && channel.partner != rank);
      const auto own = static_cast<std::size_t>(rank), other = static_cast<std::size_t>(channel.partner);
      seen[own * num_ranks + other] = seen[own * num_ranks + other] * 3 + (channel.starts ? 2 : 1);
      turned[other * num_ranks + own] = turned[other * num_ranks + own] * 3 + (channel.starts ? 1 : 2);
    }
  }
  EXPECT_EQ(seen, turned);
}

void expect_counted(const Topology& topology) {
  const std::vector<std::int32_t> by_rank = topology.num_channels_by_rank();
  std::int64_t sum = 0;
  std::int32_t most = 0;
  for (int rank = 0; rank < topology.num_ranks(); ++rank) {
    const auto num = static_cast<std::int32_t>(topology.channels(rank).size());
    ASSERT_EQ(topology.num_channels(rank), num) << "rank " << rank;
    ASSERT_EQ(by_rank.at(static_cast<std::size_t>(rank)), num) << "rank " << rank;
    sum += num;
    most = std::max(most, num);
  }
  EXPECT_EQ(2 * topology.num_channels(), sum);
  EXPECT_EQ(topology.max_channels(), most);
  EXPECT_GT(sum, 0);
}

TEST(topology, has_mutual_channels_and_counts_them) {
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    for (const ChannelMode mode : all_modes) {
      for (const TopologySpec& spec : all_specs(num_ranks, mode)) {
        SCOPED_TRACE(testing::Message() << num_ranks << " ranks, " << spec.name << " " << name_of(spec.mode));
        const Topology topology(spec, num_ranks);
        expect_mutual(topology);
        expect_counted(topology);
        const int last = num_ranks - 1;
        ASSERT_EQ(Topology(spec, num_ranks).channels(last), topology.channels(last));
      }
    }
  }
}

// Reference: NETTEST, N(P) and Ni(P).
TEST(topology, has_as_many_channels_as_nettest_counts) {
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    SCOPED_TRACE(num_ranks);
    const std::int64_t ranks = num_ranks;
    const Topology star = topology("star", num_ranks), complete = topology("complete", num_ranks);
    const Topology ring = topology("ring", num_ranks);
    EXPECT_EQ(star.num_channels(), ranks - 1);
    EXPECT_EQ(complete.num_channels(), ranks * (ranks - 1) / 2);
    EXPECT_EQ(ring.num_channels(), ranks);
    EXPECT_EQ(star.max_channels(), num_ranks - 1);
    for (int rank = 0; rank < num_ranks; ++rank) {
      EXPECT_EQ(star.num_channels(rank), rank == 0 ? num_ranks - 1 : 1);
      EXPECT_EQ(complete.num_channels(rank), num_ranks - 1);
      EXPECT_EQ(ring.num_channels(rank), 2);
    }
  }
}

TEST(topology, of_many_ranks_is_counted_without_overflow) {
  const int many = 1 << 20;
  EXPECT_EQ(topology("complete", many).num_channels(), std::int64_t{many} * (many - 1) / 2);
  EXPECT_EQ(topology("incast:524288", many).num_channels(), std::int64_t{1} << 38);
  EXPECT_THAT(topology("tree", 2'147'483'647).channels(2'000'000'000), ElementsAre(Channel{999'999'999, false}));
}

TEST(star, has_all_ranks_around_its_centre_which_starts) {
  EXPECT_THAT(topology("star", 4).channels(0), ElementsAre(Channel{1, true}, Channel{2, true}, Channel{3, true}));
  EXPECT_THAT(topology("star", 4).channels(3), ElementsAre(Channel{0, false}));
  EXPECT_THAT(topology("star2:2", 4).channels(2), ElementsAre(Channel{0, true}, Channel{1, true}, Channel{3, true}));
  EXPECT_THAT(topology("star2:2", 4).channels(0), ElementsAre(Channel{2, false}));
  EXPECT_THAT(topology("star", 2).channels(1), ElementsAre(Channel{0, false}));
}

TEST(complete, has_every_other_rank_and_the_lower_one_starts) {
  EXPECT_THAT(topology("complete", 4).channels(2), ElementsAre(Channel{0, false}, Channel{1, false}, Channel{3, true}));
}

TEST(ring, starts_to_the_right_and_is_started_from_the_left) {
  EXPECT_THAT(topology("ring", 5).channels(0), ElementsAre(Channel{1, true}, Channel{4, false}));
  EXPECT_THAT(topology("ring", 5).channels(4), ElementsAre(Channel{0, true}, Channel{3, false}));
}

TEST(ring, of_two_has_two_channels_that_each_rank_starts_one_of) {
  EXPECT_THAT(topology("ring", 2).channels(0), ElementsAre(Channel{1, true}, Channel{1, false}));
  EXPECT_THAT(topology("ring", 2).channels(1), ElementsAre(Channel{0, false}, Channel{0, true}));
}

TEST(torus, varies_the_first_extent_fastest) {
  const Topology torus = topology("torus:3x4", 12);  // rank 4 is (1, 1)
  EXPECT_THAT(torus.channels(4), ElementsAre(Channel{5, true}, Channel{3, false}, Channel{7, true}, Channel{1, false}));
  EXPECT_THAT(torus.channels(0), ElementsAre(Channel{1, true}, Channel{2, false}, Channel{3, true}, Channel{9, false}));
}

TEST(torus, has_two_channels_a_dimension_that_is_wider_than_one) {
  for (const auto& [word, num_ranks, num] : {std::tuple{"torus:2x1x3", 6, 4}, std::tuple{"torus:1x1x5", 5, 2},
                                             std::tuple{"torus:2x2x2", 8, 6}, std::tuple{"torus:7", 7, 2}}) {
    SCOPED_TRACE(word);
    const Topology torus = topology(word, num_ranks);
    EXPECT_EQ(torus.num_channels(), num_ranks * num / 2);
    for (int rank = 0; rank < num_ranks; ++rank) EXPECT_EQ(torus.num_channels(rank), num);
  }
  EXPECT_THAT(topology("torus:2x2", 4).channels(1),
              ElementsAre(Channel{0, false}, Channel{0, true}, Channel{3, true}, Channel{3, false}));
}

TEST(torus, says_which_extents_were_chosen) {
  EXPECT_THAT(topology("torus-2d", 12).spec().extents, ElementsAre(4, 3));
  EXPECT_THAT(topology("torus-3d", 12).spec().extents, ElementsAre(3, 2, 2));
  EXPECT_EQ(topology("torus-2d", 12).spec().name, "torus-2d");
}

TEST(hypercube, joins_ranks_that_differ_in_one_bit) {
  EXPECT_THAT(topology("hypercube", 8).channels(5),
              ElementsAre(Channel{4, false}, Channel{7, true}, Channel{1, false}));
  for (int dimensions = 1; dimensions <= 6; ++dimensions) {
    const int num_ranks = 1 << dimensions;
    const Topology cube = topology("hypercube", num_ranks);
    EXPECT_EQ(cube.num_channels(), dimensions * num_ranks / 2);
    for (int rank = 0; rank < num_ranks; ++rank) {
      EXPECT_EQ(cube.num_channels(rank), dimensions);
      for (const Channel& channel : cube.channels(rank)) {
        EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(rank ^ channel.partner)));
      }
    }
  }
}

TEST(tree, is_connected_with_one_channel_less_than_ranks) {
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    SCOPED_TRACE(num_ranks);
    const Topology tree = topology("tree", num_ranks);
    EXPECT_EQ(tree.num_channels(), num_ranks - 1);
    std::set<int> reached{0};
    std::vector<int> waiting{0};
    while (!waiting.empty()) {
      const int rank = waiting.back();
      waiting.pop_back();
      for (const Channel& channel : tree.channels(rank)) {
        if (reached.insert(channel.partner).second) waiting.push_back(channel.partner);
      }
    }
    EXPECT_EQ(reached.size(), static_cast<std::size_t>(num_ranks));
  }
  EXPECT_THAT(topology("tree", 6).channels(1), ElementsAre(Channel{0, false}, Channel{3, true}, Channel{4, true}));
  EXPECT_THAT(topology("tree", 6).channels(2), ElementsAre(Channel{0, false}, Channel{5, true}));
}

TEST(halves, join_each_rank_with_one_of_the_other_half) {
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    SCOPED_TRACE(num_ranks);
    const Topology halves = topology("halves", num_ranks);
    const int half = num_ranks / 2;
    EXPECT_EQ(halves.num_channels(), half);
    for (int rank = 0; rank < half; ++rank) {
      EXPECT_THAT(halves.channels(rank), ElementsAre(Channel{rank + half, true}));
      EXPECT_THAT(halves.channels(rank + half), ElementsAre(Channel{rank, false}));
    }
    if (num_ranks % 2 == 0) continue;
    EXPECT_THAT(halves.channels(num_ranks - 1), IsEmpty());
  }
}

TEST(incast, sends_from_all_to_few) {
  for (int num_ranks = 2; num_ranks <= 20; ++num_ranks) {
    for (int num_hot = 1; num_hot < num_ranks; ++num_hot) {
      SCOPED_TRACE(testing::Message() << num_hot << " of " << num_ranks);
      for (const bool is_incast : {true, false}) {
        const Topology cast = topology((is_incast ? "incast:" : "outcast:") + std::to_string(num_hot), num_ranks);
        EXPECT_EQ(cast.num_channels(), num_hot * (num_ranks - num_hot));
        for (int rank = 0; rank < num_ranks; ++rank) {
          const bool is_hot = rank < num_hot;
          int partner = is_hot ? num_hot : 0;
          EXPECT_EQ(cast.num_channels(rank), is_hot ? num_ranks - num_hot : num_hot);
          for (const Channel& channel : cast.channels(rank)) {
            EXPECT_EQ(channel, (Channel{partner++, is_hot != is_incast}));
          }
        }
      }
    }
  }
}

TEST(edges, are_channels_in_the_order_of_the_list) {
  TopologySpec spec{"my.edges", Shape::edges};
  spec.edges = {{2, 0}, {0, 1}, {3, 2}};
  const Topology listed(spec, 5);
  EXPECT_THAT(listed.channels(0), ElementsAre(Channel{2, false}, Channel{1, true}));
  EXPECT_THAT(listed.channels(2), ElementsAre(Channel{0, true}, Channel{3, false}));
  EXPECT_THAT(listed.channels(4), IsEmpty());
  EXPECT_EQ(listed.max_channels(), 2);
}

TEST(meeting_round, is_the_round_of_the_tournament) {
  for (int num_ranks = 2; num_ranks <= most_ranks; ++num_ranks) {
    SCOPED_TRACE(num_ranks);
    const Matching circle = Matching::circle(num_ranks);
    for (int one = 0; one < num_ranks; ++one) {
      std::set<std::int64_t> rounds;
      for (int other = 0; other < num_ranks; ++other) {
        if (one == other) continue;
        const std::int64_t round = meeting_round(num_ranks, one, other);
        ASSERT_TRUE(round >= 0 && round < circle.num_rounds()) << one << "-" << other;
        ASSERT_TRUE(rounds.insert(round).second) << one << " has two partners in round " << round;
        ASSERT_EQ(round, meeting_round(num_ranks, other, one));
        const auto opponent = circle.opponent(one, round);
        ASSERT_TRUE(opponent && opponent->item == other) << one << "-" << other;
      }
    }
  }
}

TEST(meeting_round, of_very_many_ranks_does_not_overflow) {
  const int many = 2'147'483'647;
  const std::int64_t round = meeting_round(many, many - 1, many - 2);
  EXPECT_EQ(Matching::circle(many).opponent(many - 1, round)->item, many - 2);
}

}  // namespace
}  // namespace leadline::schedule::topology_test
