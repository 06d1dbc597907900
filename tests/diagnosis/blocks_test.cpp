// SPDX-License-Identifier: Apache-2.0
// Cables and links beyond what their ends explain, each way by itself; and single pairs.
#include "diagnosis/blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/search.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

using synthetic::Machine;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A machine, its fit, and what blocks are looked for in.
class Blocks {
 public:
  explicit Blocks(const Machine& machine)
      : measured_(machine),
        classes_(measured_.layout()),
        rows_(measured_.rows(Symptom::slow)),
        effects_(fit(rows_, classes_)) {}

  Partition hosts() const {
    return {ComponentKind::link, -1, measured_.layout().host_of,
            static_cast<std::uint32_t>(measured_.layout().host_names.size())};
  }
  Partition leaves() const {
    const network::Level& level = measured_.layout().network.levels[0];
    Partition partition{ComponentKind::cable, 0, {}, static_cast<std::uint32_t>(level.names.size())};
    for (const std::uint32_t host : measured_.layout().host_of) partition.part_of.push_back(level.group_of[host]);
    return partition;
  }
  std::vector<Suspect> found(const Partition& partition, std::span<const ExplainedPartition> explained = {}) const {
    return find_blocks(rows_, effects_, classes_, partition, explained, {});
  }
  std::vector<IsolatedPair> pairs(std::size_t most, std::span<const ExplainedPartition> explained = {}) const {
    return slowest_pairs(rows_, effects_, classes_, explained, {}, most);
  }

 private:
  Measured measured_;
  PairClasses classes_;
  const Rows& rows_;
  Effects effects_;
};

Component link(std::int32_t first, std::int32_t second) { return {ComponentKind::link, -1, first, second, -1}; }
Component cable(std::int32_t first, std::int32_t second) { return {ComponentKind::cable, 0, first, second, -1}; }

Machine calm(const Shape& shape = {}) {
  Machine machine = machine_of(shape);
  machine.noise.disturbed_probability = 0;
  return machine;
}

TEST(blocks, a_link_is_found_each_way_and_joined) {
  Machine machine = calm();
  machine.faults = {planted(link(3, 10), 1.4)};
  const Blocks blocks(machine);
  const auto suspects = blocks.found(blocks.hosts());
  ASSERT_EQ(suspects.size(), 2U);
  for (const Suspect& one : suspects) {
    EXPECT_NEAR(one.effect, std::log(1.4), 0.04);
    EXPECT_EQ(one.num_pairs, 16U);
  }
  const auto components = joined(suspects);
  EXPECT_THAT(components_of(components), ElementsAre(described(link(3, 10), FaultDirection::both)));
  EXPECT_EQ(components.front().num_pairs, 32U);
}

TEST(blocks, a_link_one_way_is_one_way) {
  Machine machine = calm();
  machine.faults = {planted(link(10, 3), 1.4, FaultDirection::out)};
  const Blocks blocks(machine);
  EXPECT_THAT(components_of(joined(blocks.found(blocks.hosts()))),
              ElementsAre(described(link(3, 10), FaultDirection::in)));
}

TEST(blocks, a_cable_explains_its_links) {
  Machine machine = calm();
  machine.faults = {planted(cable(1, 2), 1.4)};
  const Blocks blocks(machine);
  const Partition leaves = blocks.leaves();
  const auto suspects = blocks.found(leaves);
  EXPECT_THAT(components_of(joined(suspects)), ElementsAre(described(cable(1, 2), FaultDirection::both)));
  EXPECT_THAT(blocks.found(blocks.hosts()), testing::SizeIs(testing::Gt(8U))) << "each of the 32 ways is slow";

  ExplainedPartition explained{&leaves, {}};
  for (const Suspect& one : suspects) {
    explained.blocks.push_back(
        {{static_cast<std::uint32_t>(one.component.first), static_cast<std::uint32_t>(one.component.second)},
         static_cast<float>(one.effect)});
  }
  EXPECT_THAT(blocks.found(blocks.hosts(), {&explained, 1}), IsEmpty());
  EXPECT_THAT(blocks.pairs(10), testing::SizeIs(10U));
  EXPECT_THAT(blocks.pairs(10, {&explained, 1}), testing::SizeIs(testing::Lt(10U)));
}

TEST(blocks, between_hosts_at_many_distances_are_sound) {
  const Layout layout = layout_of(machine_of({32, 1, 2, 1}));
  const auto hops = [&](std::uint32_t from, std::uint32_t to) {  // of a torus of 4 x 4 x 2
    const std::uint32_t one = layout.host_of[from], other = layout.host_of[to];
    const auto along = [](std::uint32_t a, std::uint32_t b) { return std::min((a - b) % 4, (b - a) % 4); };
    return along(one % 4, other % 4) + along(one / 4 % 4, other / 4 % 4) + (one / 16 == other / 16 ? 0U : 1U);
  };
  DenseRows rows(64, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const double scatter = 0.004 * static_cast<double>((from * 7 + to * 13) % 5);
    if (layout.host_of[from] == layout.host_of[to]) return 6.8 + scatter;
    return std::log(1450 + 140.0 * hops(from, to)) + scatter;
  });
  const PairClasses classes(layout);
  const Partition hosts{ComponentKind::link, -1, layout.host_of, 32};
  EXPECT_THAT(find_blocks(rows, fit(rows, classes), classes, hosts, {}, {}), IsEmpty());
}

TEST(blocks, of_a_sound_machine_are_sound) {
  const Blocks blocks(calm());
  EXPECT_THAT(blocks.found(blocks.hosts()), IsEmpty());
  EXPECT_THAT(blocks.found(blocks.leaves()), IsEmpty());
}

TEST(blocks, a_bad_host_is_none_of_theirs) {
  Machine machine = calm();
  machine.faults = {planted({ComponentKind::host, -1, 7, -1, -1}, 2)};
  const Blocks blocks(machine);
  EXPECT_THAT(blocks.found(blocks.hosts()), IsEmpty());
}

TEST(blocks, among_many_are_judged_by_a_random_sample) {
  // 40 hosts have 1560 ways between them, 512 of which are looked at unasked.
  Machine machine = calm({10, 4, 2, 1});
  machine.faults = {planted(link(5, 31), 1.5), planted(link(12, 38), 1.5, FaultDirection::out)};
  const Blocks blocks(machine);
  EXPECT_THAT(
      components_of(joined(blocks.found(blocks.hosts()))),
      UnorderedElementsAre(described(link(5, 31), FaultDirection::both), described(link(12, 38), FaultDirection::out)));
}

TEST(blocks, of_two_hosts_cannot_be_compared) {
  Machine machine = calm({2, 1, 4, 2});
  machine.faults = {planted(link(0, 1), 3)};
  const Blocks blocks(machine);
  EXPECT_THAT(blocks.found(blocks.hosts()), IsEmpty());
}

TEST(pairs, come_slowest_first) {
  Machine machine = calm();
  machine.faults = {planted({ComponentKind::pair, -1, 7, 33, -1}, 3, FaultDirection::out),
                    planted({ComponentKind::pair, -1, 60, 2, -1}, 6, FaultDirection::out)};
  const Blocks blocks(machine);
  const auto pairs = blocks.pairs(2);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].from, 60U);
  EXPECT_EQ(pairs[0].to, 2U);
  EXPECT_EQ(pairs[1].from, 7U);
  EXPECT_EQ(pairs[1].to, 33U);
  EXPECT_NEAR(pairs[0].residual, std::log(6), 0.1);
  EXPECT_NEAR(pairs[1].residual, std::log(3), 0.1);
  EXPECT_GT(pairs[0].value, pairs[1].value);
}

TEST(pairs, of_ends_with_two_of_their_kind_are_not_told_apart) {
  // On 2 sockets of 2 ranks each has two pairs with the other socket: the ends explain the slow one and put its
  // opposite in the wrong.
  Machine machine = calm();
  machine.faults = {planted({ComponentKind::pair, -1, 25, 27, -1}, 1.6, FaultDirection::out)};
  EXPECT_THAT(Blocks(machine).pairs(10), IsEmpty());
}

TEST(pairs, below_the_threshold_are_not_named) {
  Machine machine = calm();
  machine.noise = synthetic::no_noise();
  EXPECT_THAT(Blocks(machine).pairs(100), IsEmpty());
}

TEST(joined, is_of_both_ways_where_both_are_slow) {
  const auto one = [](std::int32_t first, std::int32_t second, double effect, double p) {
    return Suspect{link(first, second), FaultDirection::out, effect, 0.01, p, 16, false};
  };
  const auto components =
      joined({one(4, 2, 0.5, 1e-9), one(1, 3, 0.2, 1e-5), one(2, 4, 0.3, 1e-7), one(9, 8, 0.4, 1e-6)});
  EXPECT_THAT(components_of(components),
              ElementsAre(described(link(2, 4), FaultDirection::both), described(link(1, 3), FaultDirection::out),
                          described(link(8, 9), FaultDirection::in)));
  EXPECT_DOUBLE_EQ(components[0].effect, 0.4);
  EXPECT_EQ(components[0].num_pairs, 32U);
  EXPECT_EQ(components[0].p_value, 1e-9);
}

}  // namespace
}  // namespace leadline::diagnosis
