// SPDX-License-Identifier: Apache-2.0
// Neighbourhoods are NETTEST's six procedures, use the slots that there are, and never deadlock under a cap.
#include "bench/topology/neighbourhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "bench/topology/steps_simulation.hpp"
#include "core/random.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::bench::topology::neighbourhood_test {
namespace {

using kernel::Part;
using schedule::ChannelMode;
using schedule::Topology;
using schedule::TopologySpec;

constexpr Room plenty{0, 64};

/// A step as NETTEST's description has it: whom to send to, whom to receive from, whom to answer.
struct Step {
  std::vector<int> sends, receives, answers;
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "sends" << testing::PrintToString(step.sends) << " receives" << testing::PrintToString(step.receives)
             << " answers" << testing::PrintToString(step.answers);
}

Steps steps_of(const Neighbourhood& own) {
  Steps steps;
  std::uint32_t i = 0;
  for (const std::uint32_t end : own.step_ends) {
    Step& step = steps.emplace_back();
    for (; i < end; ++i) {
      const kernel::NeighbourChannel& entry = own.entries[i];
      if (kernel::sends_first(entry.part)) step.sends.push_back(entry.partner);
      if (kernel::receives(entry.part)) step.receives.push_back(entry.partner);
      if (entry.part == Part::answers) step.answers.push_back(entry.partner);
    }
  }
  return steps;
}

Topology named(const std::string& name, int num_ranks) {
  return Topology(schedule::parse_topology("--topology", name, ChannelMode::both_ways, num_ranks).at(0), num_ranks);
}

std::vector<int> numbers(int begin, int end, int without = -1) {
  std::vector<int> all;
  for (int i = begin; i < end; ++i) {
    if (i != without) all.push_back(i);
  }
  return all;
}

Steps procedure(const std::string& name, int i, int num_ranks) {
  const int right = (i + 1) % num_ranks, left = (i + num_ranks - 1) % num_ranks;
  const std::vector<int> others = numbers(0, num_ranks, i);
  if (name == "star" && i > 0) return {{{}, {0}, {0}}};
  if (name == "star2" && i > 0) return {{{0}, {0}, {}}};
  if (name == "complete") return {{numbers(i + 1, num_ranks), others, numbers(0, i)}};
  if (name == "ring") return {{{right}, {left}, {}}, {{left}, {right}, {}}};
  if (name == "ring2") return {{{right, left}, {right, left}, {}}};
  return {{others, others, {}}};  // complete2, and the centre of a star
}

TEST(Neighbourhood, IsWhatNettestDoes) {
  for (const std::string name : {"star", "star2", "complete", "complete2", "ring", "ring2"}) {
    for (int num_ranks = 2; num_ranks <= 5; ++num_ranks) {
      for (int rank = 0; rank < num_ranks; ++rank) {
        const Neighbourhood own = neighbourhood(named(name, num_ranks), rank, plenty, SlotUse::by_step);
        EXPECT_EQ(steps_of(own), procedure(name, rank, num_ranks)) << name << ", rank " << rank << " of " << num_ranks;
      }
    }
  }
}

TEST(Neighbourhood, OfARankWithoutChannelsIsEmpty) {
  const Neighbourhood own = neighbourhood(named("halves", 5), 4, {0, 0}, SlotUse::by_step);
  EXPECT_TRUE(own.entries.empty());
  EXPECT_TRUE(own.step_ends.empty());
}

TEST(Neighbourhood, OneWayNeverComesBack) {
  const Topology incast = named("incast:1", 4);
  EXPECT_EQ(steps_of(neighbourhood(incast, 0, plenty, SlotUse::by_step)), (Steps{{{}, {1, 2, 3}, {}}}));
  EXPECT_EQ(steps_of(neighbourhood(incast, 2, plenty, SlotUse::by_step)), (Steps{{{0}, {}, {}}}));
}

std::vector<std::uint32_t> slots_of(const Neighbourhood& own) {
  std::vector<std::uint32_t> slots;
  for (const kernel::NeighbourChannel& entry : own.entries) slots.push_back(entry.slot);
  return slots;
}

TEST(Neighbourhood, UsesTheSlotsInTurnStepByStep) {
  const Topology complete = named("complete2", 8);
  using Slots = std::vector<std::uint32_t>;
  EXPECT_EQ(slots_of(neighbourhood(complete, 3, {0, 7}, SlotUse::by_step)), (Slots{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(slots_of(neighbourhood(complete, 3, {3, 3}, SlotUse::by_step)), (Slots{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(slots_of(neighbourhood(complete, 3, {0, 2}, SlotUse::by_step)), (Slots{0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(slots_of(neighbourhood(complete, 3, {0, 1}, SlotUse::by_step)), (Slots{0, 0, 0, 0, 0, 0, 0}));
}

TEST(Neighbourhood, GivesEachChannelItsOwnSlotForVerification) {
  const Neighbourhood own = neighbourhood(named("ring", 6), 2, {1, 2}, SlotUse::by_channel);
  ASSERT_EQ(own.entries.size(), 4u);  // each channel there and back
  EXPECT_EQ(slots_of(own), own.channel_of);
  EXPECT_EQ(std::set<std::uint32_t>(own.channel_of.begin(), own.channel_of.end()), (std::set<std::uint32_t>{0, 1}));
}

TEST(Neighbourhood, PhasedWithACapGoesThereOnAllChannelsBeforeItComesBack) {
  TopologySpec spec;
  spec.mode = ChannelMode::phased;
  const Topology complete(spec, 5);
  const Neighbourhood own = neighbourhood(complete, 2, {1, 1}, SlotUse::by_step);
  ASSERT_EQ(own.step_ends, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(own.channel_of[i], own.channel_of[i + 4]);
    EXPECT_NE(own.entries[i].part, own.entries[i + 4].part);
    EXPECT_EQ(own.entries[i].part, own.entries[i].partner > 2 ? Part::sends : Part::receives);
  }
}

/// Every pair with one chance in three, in either direction.
TopologySpec random_edges(int num_ranks) {
  TopologySpec spec;
  spec.name = "edges";
  spec.shape = schedule::Shape::edges;
  Random random(11, static_cast<std::uint64_t>(num_ranks));
  for (int a = 0; a < num_ranks; ++a) {
    for (int b = a + 1; b < num_ranks; ++b) {
      const double chance = random.uniform();
      if (chance < 0.17) spec.edges.push_back({a, b});
      if (chance > 0.83) spec.edges.push_back({b, a});
    }
  }
  if (spec.edges.empty()) spec.edges.push_back({num_ranks - 1, 0});
  return spec;
}

std::vector<TopologySpec> specs_of(int num_ranks) {
  TopologySpec complete, torus;
  complete.name = "complete";
  torus.name = "torus-2d";
  torus.shape = schedule::Shape::torus;
  torus.extents = {0, 0};
  return {complete, torus, random_edges(num_ranks)};
}

std::vector<Neighbourhood> neighbourhoods(const Topology& topology, std::uint32_t max_outstanding) {
  std::vector<Neighbourhood> ranks;
  for (int rank = 0; rank < topology.num_ranks(); ++rank) {
    ranks.push_back(neighbourhood(topology, rank, {max_outstanding, 64}, SlotUse::by_step));
  }
  return ranks;
}

/// Both ends of every message take it for the same channel's.
void expect_right_channels(const Topology& topology, const std::vector<Neighbourhood>& ranks,
                           const StepsSimulation& simulation) {
  const auto starts = [&](int rank, std::uint32_t entry) {
    return topology.channels(rank).at(ranks.at(static_cast<std::size_t>(rank)).channel_of.at(entry)).starts;
  };
  const auto num_messages = topology.num_channels() * schedule::num_ways(topology.spec().mode);
  EXPECT_EQ(static_cast<std::int64_t>(simulation.matches().size()), num_messages);
  for (const Match& match : simulation.matches()) {
    EXPECT_NE(starts(match.from, match.sent), starts(match.to, match.received));
  }
}

class EveryCap : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EveryCap, LetsAllRanksComeToTheEnd) {
  for (int num_ranks = 2; num_ranks <= 17; ++num_ranks) {
    for (TopologySpec spec : specs_of(num_ranks)) {
      for (const ChannelMode mode :
           {ChannelMode::answered, ChannelMode::phased, ChannelMode::both_ways, ChannelMode::one_way}) {
        spec.mode = mode;
        SCOPED_TRACE(spec.name + ", " + name_of(mode) + ", " + std::to_string(num_ranks) + " ranks");
        const Topology topology(spec, num_ranks);
        const std::vector<Neighbourhood> ranks = neighbourhoods(topology, GetParam());
        StepsSimulation simulation(ranks);
        ASSERT_TRUE(simulation.completes());
        expect_right_channels(topology, ranks, simulation);
      }
    }
  }
}

TEST_P(EveryCap, IsKept) {
  const std::uint32_t most = GetParam() == 0 ? 16 : GetParam();
  for (const Neighbourhood& own : neighbourhoods(named("complete", 17), GetParam())) {
    std::uint32_t begin = 0;
    for (const std::uint32_t end : own.step_ends) {
      EXPECT_LE(end - begin, most);
      begin = end;
    }
    EXPECT_EQ(begin, 16u);
  }
}

INSTANTIATE_TEST_SUITE_P(Neighbourhood, EveryCap, testing::Values(0, 1, 2, 3, 4),
                         [](const auto& cap) { return std::to_string(cap.param); });

TEST(StepsSimulation, SeesARingInWhichEverybodyServesTheRightNeighbourFirst) {
  std::vector<Neighbourhood> ranks(3);
  for (int rank = 0; rank < 3; ++rank) {
    ranks[static_cast<std::size_t>(rank)] = {
        {{(rank + 1) % 3, Part::both}, {(rank + 2) % 3, Part::both}}, {1, 2}, {0, 1}};
  }
  EXPECT_FALSE(StepsSimulation(ranks).completes());
}

std::vector<std::vector<std::int32_t>> all_partners(const std::vector<Topology>& topologies, int num_ranks) {
  std::vector<std::vector<std::int32_t>> partners;
  for (int rank = 0; rank < num_ranks; ++rank) partners.push_back(partners_to_connect(topologies, rank, num_ranks));
  return partners;
}

/// Whether all links open where each rank waits for the partner that is next in its list.
bool all_open(const std::vector<std::vector<std::int32_t>>& partners) {
  std::vector<std::size_t> num_open(partners.size());
  const auto next = [&](std::size_t rank) {
    return num_open[rank] < partners[rank].size() ? partners[rank][num_open[rank]] : -1;
  };
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t rank = 0; rank < partners.size(); ++rank) {
      const std::int32_t partner = next(rank);
      if (partner < 0 || next(static_cast<std::size_t>(partner)) != static_cast<std::int32_t>(rank)) continue;
      ++num_open[rank];
      ++num_open[static_cast<std::size_t>(partner)];
      moves = true;
    }
  }
  for (std::size_t rank = 0; rank < partners.size(); ++rank) {
    if (next(rank) >= 0) return false;
  }
  return true;
}

TEST(PartnersToConnect, OpenWithoutACircle) {
  for (int num_ranks = 2; num_ranks <= 17; ++num_ranks) {
    for (const TopologySpec& spec : specs_of(num_ranks)) {
      EXPECT_TRUE(all_open(all_partners({Topology(spec, num_ranks)}, num_ranks))) << spec.name << " " << num_ranks;
    }
  }
  EXPECT_FALSE(all_open({{1, 2}, {2, 0}, {0, 1}}));
}

TEST(PartnersToConnect, AreThoseOfAllTopologiesAndOfBarriersOnce) {
  const std::vector<Topology> topologies{named("ring", 9), named("star:4", 9), named("ring2", 9)};
  const std::vector<std::int32_t> partners = partners_to_connect(topologies, 0, 9);
  const std::set<std::int32_t> set(partners.begin(), partners.end());
  EXPECT_EQ(set.size(), partners.size());
  EXPECT_EQ(set, (std::set<std::int32_t>{1, 2, 4, 5, 7, 8}));  // barriers: 1, 2, 4 and 8, 7, 5 away
}

}  // namespace
}  // namespace leadline::bench::topology::neighbourhood_test
