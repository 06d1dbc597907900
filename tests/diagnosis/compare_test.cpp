// SPDX-License-Identifier: Apache-2.0
// Two measurements of simulated machines: what changed is named, by as much as it did, and nothing else.
#include "diagnosis/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>

#include "made_up.hpp"

namespace leadline::diagnosis::compare_test {
namespace {

using synthetic::Machine;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr Shape usual{4, 4, 4, 2};  // 16 hosts, 64 ranks

Machine machine_with(std::uint64_t seed, std::vector<synthetic::PlantedFault> faults = {}) {
  Machine machine = machine_of(usual);
  machine.seed = seed;
  machine.faults = std::move(faults);
  return machine;
}

/// ln ns of both.
struct TwoTimes {
  Matrix before, after;
};

leadline::Comparison compared(const Layout& layout, const TwoTimes& times) {
  DenseRows rows(static_cast<std::uint32_t>(num_ranks(layout)), 2, LogCode::of_ratios);
  return compare({[&](Compared which) -> const Rows& {
                    fill(rows, [&](std::uint32_t from, std::uint32_t to) {
                      const double before = times.before(from, to), after = times.after(from, to);
                      const double slowdown = after - before;
                      return which == Compared::before    ? before + 0 * slowdown
                             : which == Compared::after   ? after + 0 * slowdown
                             : which == Compared::speedup ? -slowdown
                                                          : slowdown;
                    });
                    return rows;
                  },
                  layout,
                  {},
                  1024});
}

Matrix times_of(const Measured& measured) {
  return [&](std::uint32_t from, std::uint32_t to) { return measured.logarithm(Symptom::slow, from, to); };
}

leadline::Comparison compared(const Machine& before, const Machine& after) {
  const Measured first(before), second(after);
  return compared(first.layout(), {times_of(first), times_of(second)});
}

std::vector<std::string> named(const std::vector<Fault>& components) {
  std::vector<std::string> names;
  for (const Fault& one : components) names.push_back(described(one.component, one.direction, one.symptom));
  return names;
}

Component component(ComponentKind kind, std::int32_t first, std::int32_t second = -1) {
  return {kind, -1, first, second, -1};
}

class of_each_seed : public testing::TestWithParam<std::uint64_t> {};

TEST_P(of_each_seed, the_same_machine_again_is_neither_slower_nor_faster) {
  const leadline::Comparison comparison = compared(machine_with(GetParam()), machine_with(GetParam() + 100));
  EXPECT_FALSE(is_worse(comparison));
  EXPECT_THAT(named(comparison.slower), IsEmpty());
  EXPECT_THAT(named(comparison.faster), IsEmpty());
  EXPECT_THAT(comparison.classes, Each(Field(&ComparedClass::change, Change::none)));
  EXPECT_EQ(comparison.num_pairs, 64U * 63U);
  for (const ComparedClass& one : comparison.classes) {
    EXPECT_NEAR(one.ratio, 1, 0.05) << one.name;
    EXPECT_LT(one.ratio_low, one.ratio);
    EXPECT_GT(one.ratio_high, one.ratio);
  }
}

TEST_P(of_each_seed, a_host_that_became_slower_is_all_that_is_named) {
  const Component host = component(ComponentKind::host, 5);
  const leadline::Comparison comparison =
      compared(machine_with(GetParam()), machine_with(GetParam() + 100, {planted(host, 1.2)}));
  EXPECT_TRUE(is_worse(comparison));
  ASSERT_THAT(named(comparison.slower), ElementsAre(described(host, FaultDirection::both)));
  EXPECT_THAT(named(comparison.faster), IsEmpty());
  EXPECT_THAT(comparison.classes, Each(Field(&ComparedClass::change, Change::none)));
  const Fault& fault = comparison.slower.front();
  EXPECT_EQ(fault.name, "host node5");
  EXPECT_NEAR(fault.ratio, 1.2, 0.04);
  EXPECT_LT(fault.ratio_low, 1.2);
  EXPECT_GT(fault.ratio_high, 1.2);
  EXPECT_THAT(fault.ruled_out, IsEmpty());
  EXPECT_EQ(fault.advice, "");
}

TEST_P(of_each_seed, a_repaired_link_became_faster_and_makes_nothing_worse) {
  const Component link = component(ComponentKind::link, 2, 9);
  const leadline::Comparison comparison =
      compared(machine_with(GetParam(), {planted(link, 1.5)}), machine_with(GetParam() + 100));
  EXPECT_FALSE(is_worse(comparison));
  EXPECT_THAT(named(comparison.slower), IsEmpty());
  ASSERT_THAT(named(comparison.faster), ElementsAre(described(link, FaultDirection::both)));
  EXPECT_NEAR(comparison.faster.front().ratio, 1.5, 0.06) << "before over after";
}

INSTANTIATE_TEST_SUITE_P(seeds, of_each_seed, testing::Values(1, 2, 3));

TEST(compare, tells_an_uplink_from_its_hosts) {
  const Component uplink{ComponentKind::uplink, 0, 1, -1, -1};
  Machine before = machine_of({4, 8, 2, 1}), after = before;
  after.seed = before.seed + 1;
  after.faults = {planted(uplink, 1.5)};
  const leadline::Comparison comparison = compared(before, after);
  ASSERT_THAT(named(comparison.slower), ElementsAre(described(uplink, FaultDirection::both)));
  EXPECT_THAT(comparison.slower.front().hosts, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(named(comparison.faster), IsEmpty());
}

/// What was slow before and still is has not changed.
TEST(compare, says_nothing_of_a_fault_that_both_have) {
  const auto fault = planted(component(ComponentKind::host, 3), 2);
  const leadline::Comparison comparison = compared(machine_with(1, {fault}), machine_with(2, {fault}));
  EXPECT_FALSE(is_worse(comparison));
  EXPECT_THAT(named(comparison.slower), IsEmpty());
  EXPECT_THAT(named(comparison.faster), IsEmpty());
}

// From here on closed forms: 8 hosts of 2 ranks, times without scatter.

Layout small_layout() { return layout_of(machine_of({8, 1, 2, 1})); }

double distance_ns(std::uint32_t from, std::uint32_t to) { return from / 2 == to / 2 ? 500 : 2000; }

Matrix times(const std::function<double(std::uint32_t from, std::uint32_t to)>& time_ns) {
  return [=](std::uint32_t from, std::uint32_t to) {
    return from == to ? std::numeric_limits<double>::quiet_NaN() : std::log(time_ns(from, to));
  };
}

TEST(compare, of_all_pairs_of_a_class_says_so_once) {
  const leadline::Comparison comparison =
      compared(small_layout(), {times(distance_ns), times([](auto from, auto to) {
                                  return distance_ns(from, to) * (from / 2 == to / 2 ? 1.0 : 1.3);
                                })});
  EXPECT_TRUE(is_worse(comparison));
  EXPECT_THAT(named(comparison.slower), IsEmpty()) << "no component is by more than its class";
  ASSERT_EQ(comparison.classes.size(), 2U);
  const ComparedClass &inside = comparison.classes[0], &between = comparison.classes[1];
  EXPECT_EQ(inside.change, Change::none);
  EXPECT_EQ(inside.num_pairs, 16U);
  EXPECT_EQ(between.name, "between hosts");
  EXPECT_EQ(between.change, Change::slower);
  EXPECT_EQ(between.num_pairs, 16U * 14U);
  EXPECT_NEAR(between.ratio, 1.3, 0.002);
  EXPECT_NEAR(between.before_ns, 2000, 2);
  EXPECT_NEAR(between.after_ns, 2600, 2.6);
}

/// Ratios far from 1, as of another transport: what is 20 times as fast is not taken for 7 times.
TEST(compare, keeps_great_ratios) {
  const auto faster = [](std::uint32_t from, std::uint32_t to) {
    return distance_ns(from, to) / (from / 2 == 3 || to / 2 == 3 ? 5 : 20);
  };
  const leadline::Comparison comparison = compared(small_layout(), {times(distance_ns), times(faster)});
  EXPECT_THAT(comparison.classes, Each(Field(&ComparedClass::change, Change::faster)));
  EXPECT_NEAR(comparison.classes.back().ratio, 1 / 20.0, 0.0005);
  EXPECT_THAT(named(comparison.slower), IsEmpty()) << "it is faster than before, if by less than the others";
  EXPECT_FALSE(is_worse(comparison));
  const leadline::Comparison back = compared(small_layout(), {times(faster), times(distance_ns)});
  EXPECT_NEAR(back.classes.back().ratio, 20, 0.2);
  EXPECT_THAT(named(back.faster), IsEmpty());
}

/// Half of the pairs between switches leave the one whose uplink is repaired; the others have not changed.
TEST(compare, of_few_switches_tells_what_changed_from_what_stayed) {
  const Component uplink{ComponentKind::uplink, 0, 1, -1, -1};
  const leadline::Comparison repaired = compared(machine_with(1, {planted(uplink, 1.5)}), machine_with(1));
  EXPECT_THAT(named(repaired.slower), IsEmpty());
  EXPECT_FALSE(is_worse(repaired));
  const leadline::Comparison broken = compared(machine_with(1), machine_with(1, {planted(uplink, 1.5)}));
  EXPECT_THAT(named(broken.slower), ElementsAre(described(uplink, FaultDirection::both)));
  EXPECT_THAT(named(broken.faster), IsEmpty());
}

leadline::Comparison compared_with(const std::vector<Machine>& earlier, const Machine& later) {
  std::deque<Measured> runs;  // they stay where they are
  for (const Machine& one : earlier) runs.emplace_back(one);
  const Measured last(later);
  DenseRows rows(static_cast<std::uint32_t>(num_ranks(last.layout())), 2, LogCode::of_ratios);
  const auto filled = [&](const Matrix& matrix) -> const Rows& {
    fill(rows, matrix);
    return rows;
  };
  const Matrix after = times_of(last);
  const Matrix before = [&](std::uint32_t from, std::uint32_t to) {
    double sum = 0;
    for (const Measured& run : runs) sum += run.logarithm(Symptom::slow, from, to);
    return sum / static_cast<double>(runs.size());
  };
  return compare({.rows = [&](Compared which) -> const Rows& {
                    return filled([&](std::uint32_t from, std::uint32_t to) {
                      const double slowdown = after(from, to) - before(from, to);
                      return which == Compared::before    ? before(from, to)
                             : which == Compared::after   ? after(from, to)
                             : which == Compared::speedup ? -slowdown
                                                          : slowdown;
                    });
                  },
                  .layout = last.layout(),
                  .message_size_bytes = 1024,
                  .num_before = runs.size(),
                  .earlier = [&](std::size_t run) -> const Rows& { return filled(times_of(runs[run])); }});
}

TEST(compare, with_several_baselines_names_what_is_beyond_their_scatter) {
  const Component host = component(ComponentKind::host, 5);
  const auto slow = [&](std::uint64_t seed, double factor) { return machine_with(seed, {planted(host, factor)}); };
  const leadline::Comparison steady = compared_with({machine_with(1), machine_with(2), machine_with(3)}, slow(4, 1.3));
  EXPECT_THAT(named(steady.slower), ElementsAre(described(host, FaultDirection::both)));
  EXPECT_THAT(steady.classes, Each(Field(&ComparedClass::change, Change::none)));
  EXPECT_TRUE(is_worse(steady));
  const leadline::Comparison scattered = compared_with({slow(1, 1.2), machine_with(2), machine_with(3)}, slow(4, 1.3));
  EXPECT_THAT(named(scattered.slower), IsEmpty()) << "it was as slow as that before, now and then";
  EXPECT_THAT(scattered.notes, ElementsAre(testing::HasSubstr("host node5")));
}

TEST(compare, with_several_baselines_judges_classes_by_their_scatter) {
  const auto all = [](std::uint64_t seed, double factor) {
    Machine machine = machine_with(seed);
    machine.same_socket.latency_ns *= factor;
    return machine;
  };
  const auto change = [&](const std::vector<Machine>& earlier) {
    return compared_with(earlier, all(9, 1.3)).classes.at(0).change;
  };
  EXPECT_EQ(change({all(1, 1), all(2, 1.01), all(3, 0.99), all(4, 1)}), Change::slower);
  EXPECT_EQ(change({all(1, 1), all(2, 1.35), all(3, 0.8), all(4, 1.1)}), Change::none);
}

TEST(compare, without_comparable_classes_still_names_components) {
  const Measured before(machine_with(1)), after(machine_with(2, {planted(component(ComponentKind::host, 5), 1.3)}));
  const Matrix earlier = times_of(before), later = times_of(after);
  DenseRows rows(64, 2, LogCode::of_ratios);
  const leadline::Comparison comparison = compare({.rows = [&](Compared which) -> const Rows& {
                                                     fill(rows, [&](std::uint32_t from, std::uint32_t to) {
                                                       const double first = earlier(from, to), second = later(from, to);
                                                       return which == Compared::before    ? first
                                                              : which == Compared::after   ? second
                                                              : which == Compared::speedup ? first - second
                                                                                           : second - first;
                                                     });
                                                     return rows;
                                                   },
                                                   .layout = after.layout(),
                                                   .has_classes = false});
  EXPECT_THAT(comparison.classes, IsEmpty());
  EXPECT_EQ(comparison.slower.size(), 1U);
}

TEST(compare, leaves_out_what_only_one_has) {
  const auto is_hole = [](std::uint32_t from, std::uint32_t to) { return (from + 3 * to) % 5 == 0; };
  const Matrix whole = times(distance_ns), with_holes = [&](std::uint32_t from, std::uint32_t to) {
    return is_hole(from, to) ? std::numeric_limits<double>::quiet_NaN() : whole(from, to);
  };
  std::uint64_t num = 0;
  for (std::uint32_t from = 0; from < 16; ++from) {
    for (std::uint32_t to = 0; to < 16; ++to) num += from != to && !is_hole(from, to) ? 1 : 0;
  }
  const leadline::Comparison one = compared(small_layout(), {whole, with_holes}),
                             other = compared(small_layout(), {with_holes, whole});
  EXPECT_EQ(one.num_pairs, num);
  EXPECT_EQ(other.num_pairs, num);
  EXPECT_FALSE(is_worse(one));
  EXPECT_FALSE(is_worse(other));
}

TEST(compare, of_a_class_that_one_has_not_says_nothing) {
  const leadline::Comparison comparison =
      compared(small_layout(), {times(distance_ns), times([](auto from, auto to) {
                                  return from / 2 == to / 2 ? std::numeric_limits<double>::quiet_NaN() : 2000;
                                })});
  ASSERT_EQ(comparison.classes.size(), 1U);
  EXPECT_EQ(comparison.classes.front().name, "between hosts");
  EXPECT_NEAR(comparison.classes.front().before_ns, 2000, 2) << "of the same class as the ratio";
}

TEST(compare, uses_the_numbers_that_ranks_and_hosts_have_in_the_file) {
  Layout layout = small_layout();
  for (std::uint32_t host = 0; host < 8; ++host) layout.host_numbers.push_back(10 + host);
  for (std::uint32_t rank = 0; rank < 16; ++rank) layout.rank_numbers.push_back(20 + rank);
  const auto slow_rank = [](std::uint32_t from, std::uint32_t to) {
    return distance_ns(from, to) * (from == 5 || to == 5 ? 2 : 1);
  };
  const leadline::Comparison of_rank = compared(layout, {times(distance_ns), times(slow_rank)});
  ASSERT_THAT(named(of_rank.slower), ElementsAre(described(component(ComponentKind::rank, 25), FaultDirection::both)));
  EXPECT_EQ(of_rank.slower.front().name, "rank 25 on node2");
  for (const ShownPair& pair : of_rank.slower.front().pairs) EXPECT_TRUE(pair.from == 25 || pair.to == 25);
  const auto slow_host = [](std::uint32_t from, std::uint32_t to) {
    return distance_ns(from, to) * (from / 2 == 2 || to / 2 == 2 ? 2 : 1);
  };
  const leadline::Comparison of_host = compared(layout, {times(distance_ns), times(slow_host)});
  ASSERT_THAT(named(of_host.slower), ElementsAre(described(component(ComponentKind::host, 12), FaultDirection::both)));
}

/// Nobody has named a network, and the times of before show two groups: both are judged by these, not by groups that
/// their ratios would show.
TEST(compare, learns_the_network_from_the_times_of_before) {
  Layout layout = layout_of(machine_of({16, 1, 2, 1}));
  const auto in_groups = [](std::uint32_t from, std::uint32_t to) {
    return from / 2 == to / 2 ? 500.0 : from / 16 == to / 16 ? 1500 : 2500;
  };
  const auto slower_apart = [&](std::uint32_t from, std::uint32_t to) {
    return in_groups(from, to) * (from / 16 == to / 16 ? 1 : 2);
  };
  const auto flat_then_groups = compared(layout, {times(distance_ns), times(slower_apart)});
  ASSERT_EQ(flat_then_groups.classes.size(), 2U);
  EXPECT_EQ(flat_then_groups.classes.back().name, "between hosts");
  const auto groups_both = compared(layout, {times(in_groups), times(slower_apart)});
  ASSERT_EQ(groups_both.classes.size(), 3U);
  EXPECT_EQ(groups_both.classes[1].change, Change::none);
  EXPECT_EQ(groups_both.classes[2].change, Change::slower);
  EXPECT_NEAR(groups_both.classes[2].ratio, 2, 0.003);
}

}  // namespace
}  // namespace leadline::diagnosis::compare_test
