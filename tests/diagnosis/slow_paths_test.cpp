// SPDX-License-Identifier: Apache-2.0
// Slow cables of lines and rings of switches, whose pairs of switches share them.
#include "diagnosis/slow_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis::slow_paths_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t hosts_a_switch = 4;

/// Hosts of one rank at switches so many hops apart.
Layout layout_of_switches(std::uint32_t num, const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& hops,
                          std::uint32_t num_hosts = hosts_a_switch) {
  Layout layout;
  network::Level leaves{"leaf switch", {}, {}};
  for (std::uint32_t one = 0; one < num; ++one) {
    leaves.names.push_back("s" + std::to_string(one));
    for (std::uint32_t other = 0; other < num; ++other) {
      layout.network.hops.push_back(static_cast<std::uint8_t>(hops(one, other)));
    }
    for (std::uint32_t host = 0; host < num_hosts; ++host) {
      layout.host_of.push_back(one * num_hosts + host);
      layout.host_names.push_back("h" + std::to_string(layout.host_of.back()));
      leaves.group_of.push_back(one);
    }
  }
  layout.network.source = "file";
  layout.network.levels.push_back(leaves);
  return layout;
}

std::uint32_t along_a_line(std::uint32_t one, std::uint32_t other) {
  return std::max(one, other) - std::min(one, other);
}
std::uint32_t round_a_ring(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t steps = along_a_line(one, other);
  return std::min(steps, 6 - steps);
}

/// What is found where pairs of switches take so many ns beyond 1500 and 100 a hop.
std::vector<std::string> found_where(const Layout& layout,
                                     const std::function<double(std::uint32_t, std::uint32_t)>& more_ns) {
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  const std::size_t num_switches = layout.network.levels.front().names.size();
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = from / hosts_a_switch, other = to / hosts_a_switch;
    const double scatter = 0.004 * static_cast<double>((from * 7 + to * 13) % 5);
    return scatter + std::log(1500 + 100.0 * layout.network.hops[one * num_switches + other] + more_ns(one, other));
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  return faults_of(diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false}));
}

std::string cable(std::int32_t one, std::int32_t other) {
  return described({ComponentKind::cable, 0, one, other, -1}, FaultDirection::both);
}

TEST(slow_paths, at_the_end_of_a_line_are_named_though_all_far_pairs_have_them) {
  const Layout layout = layout_of_switches(4, along_a_line);
  EXPECT_THAT(
      found_where(layout, [](std::uint32_t one, std::uint32_t other) { return (one == 3) != (other == 3) ? 2000 : 0; }),
      ElementsAre(cable(2, 3)));
}

TEST(slow_paths, of_a_ring_are_named_once_not_pair_by_pair) {
  const Layout layout = layout_of_switches(6, round_a_ring);
  // Clockwise from 1 to 2: also 0 to 2, 1 to 3; opposite switches have two ways, here the other one.
  const auto passes = [](std::uint32_t one, std::uint32_t other) {
    const std::uint32_t low = std::min(one, other), high = std::max(one, other);
    return (low == 1 && (high == 2 || high == 3)) || (low == 0 && high == 2);
  };
  EXPECT_THAT(
      found_where(layout, [&](std::uint32_t one, std::uint32_t other) { return passes(one, other) ? 2000 : 0; }),
      ElementsAre(cable(1, 2)));
}

/// As found_where(), for a time of each pair of hosts that have one rank each.
std::vector<std::string> found_with(const Layout& layout,
                                    const std::function<double(std::uint32_t, std::uint32_t)>& take_ns) {
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    return 0.002 * static_cast<double>((from * 7 + to * 13) % 5) + std::log(take_ns(from, to));
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  return faults_of(diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false}));
}

std::string slow_host(std::int32_t host) {
  return described({ComponentKind::host, -1, host, -1, -1}, FaultDirection::both);
}

/// Its factor is 20 near and 16 far, and no link or way explains the difference.
TEST(slow_paths, are_not_blamed_for_a_host_that_adds_a_time_at_every_distance) {
  const Layout layout = layout_of_switches(3, along_a_line, 3);
  EXPECT_THAT(found_with(layout,
                         [](std::uint32_t from, std::uint32_t to) {
                           const double of_ends = (from == 4 ? 250'000 : 0) + (to == 4 ? 250'000 : 0);
                           return 13'000 + 1'800.0 * along_a_line(from / 3, to / 3) + of_ends;
                         }),
              ElementsAre(slow_host(4)));
}

/// Flows share the cables of a line, so that far pairs take up to eight times as long; what its ways show is not
/// proven.
TEST(slow_paths, under_load_leave_a_host_that_is_slow_with_everybody) {
  const Layout layout = layout_of_switches(4, along_a_line, 3);
  const auto hosts_where = [&](std::uint32_t slow) {
    std::vector<std::string> found = found_with(layout, [&](std::uint32_t from, std::uint32_t to) {
      const std::uint32_t hops = along_a_line(from / 3, to / 3);
      const double time = hops == 0 ? 43'000 : 43'000.0 * (1 + (from + to) % 4) * std::min(hops, 2U);
      return from == slow || to == slow ? std::max(time, 890'000.0) : time;
    });
    std::erase_if(found, [](const std::string& one) { return !one.starts_with("host"); });
    return found;
  };
  EXPECT_THAT(hosts_where(11), ElementsAre(slow_host(11)));
  EXPECT_THAT(hosts_where(12), IsEmpty()) << "nobody";
}

TEST(slow_paths, are_not_blamed_for_a_slow_switch_or_for_nothing) {
  const Layout layout = layout_of_switches(4, along_a_line);
  EXPECT_THAT(found_where(layout, [](std::uint32_t, std::uint32_t) { return 0; }), IsEmpty());
  const auto found =
      found_where(layout, [](std::uint32_t one, std::uint32_t other) { return one == 3 || other == 3 ? 2000 : 0; });
  EXPECT_THAT(found, testing::Not(testing::Contains(cable(2, 3))));
}

TEST(slow_paths, are_named_though_pairs_below_a_switch_scatter_by_less) {
  const Layout layout = layout_of_switches(3, along_a_line, 3);
  DenseRows rows(9, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = from / 3, other = to / 3;
    if ((one == 2) != (other == 2)) return std::log(500e3 + 1e3 * ((from + to) % 5));
    const bool is_fast = one == other ? one == 1 || from % 3 + to % 3 == 1 : (from + to) % 2 == 0;
    return std::log((one == other ? 6.7e3 : 7.9e3) * (is_fast ? 1 : 1.42));
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  EXPECT_THAT(faults_of(diagnose({rows_of, layout, {}, 72, false})), testing::Contains(cable(1, 2)));
}

TEST(slow_paths, explain_single_pairs_of_switches_farther_away_too) {
  const Layout layout = layout_of_switches(4, along_a_line);
  DenseRows rows(16, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = from / hosts_a_switch, other = to / hosts_a_switch;
    const double scatter = 0.004 * static_cast<double>((from * 7 + to * 13) % 5);
    const bool passes = (one == 3) != (other == 3), is_slower = from + to == 15 && std::max(from, to) == 15;
    return scatter + std::log((1500 + 100.0 * along_a_line(one, other)) * (passes ? 20 : 1) * (is_slower ? 3 : 1));
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  EXPECT_THAT(faults_of(diagnose({rows_of, layout, {}, 240, false})), ElementsAre(cable(2, 3)));
}

TEST(slow_paths, several_are_named) {
  const Layout layout = layout_of_switches(5, along_a_line);
  const auto more = [](std::uint32_t one, std::uint32_t other) {
    const std::uint32_t low = std::min(one, other), high = std::max(one, other);
    return (low < 1 && high >= 1 ? 1500 : 0) + (low < 4 && high >= 4 ? 2500 : 0);
  };
  EXPECT_THAT(found_where(layout, more), testing::UnorderedElementsAre(cable(0, 1), cable(3, 4)));
}

/// What is found in a line of three switches with two hosts each: of no distance a host has more than four pairs, and
/// of the nearest one.
std::vector<std::string> found_in_short_line(const std::function<double(std::uint32_t, std::uint32_t)>& factor) {
  const Layout layout = layout_of_switches(3, along_a_line, 2);
  DenseRows rows(6, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const double scatter = 0.02 * static_cast<double>((from * 7 + to * 13) % 5);
    const std::uint32_t num_hops = along_a_line(from / 2, to / 2);
    return scatter + std::log((1500 + 300.0 * num_hops) * factor(from, to));
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  return faults_of(diagnose({rows_of, layout, {}, 30, false}));
}

TEST(ends_of_a_network_that_is_no_tree, are_found_though_few_pairs_are_as_far) {
  EXPECT_THAT(found_in_short_line([](std::uint32_t, std::uint32_t) { return 1; }), IsEmpty());
  const auto of_host = [](std::uint32_t from, std::uint32_t to) { return from == 4 || to == 4 ? 20 : 1; };
  EXPECT_THAT(found_in_short_line(of_host),
              ElementsAre(described({ComponentKind::host, -1, 4, -1, -1}, FaultDirection::both)));
  for (const auto& pair : {std::pair(0U, 1U), std::pair(1U, 2U), std::pair(0U, 5U)}) {
    const auto of_link = [&](std::uint32_t from, std::uint32_t to) {
      return std::pair(std::min(from, to), std::max(from, to)) == pair ? 20 : 1;
    };
    const auto [one, other] = pair;
    const Component link{ComponentKind::link, -1, static_cast<std::int32_t>(one), static_cast<std::int32_t>(other), -1};
    EXPECT_THAT(found_in_short_line(of_link), ElementsAre(described(link, FaultDirection::both)));
  }
}

/// Four leaf switches of a tree; pairs below one take 40 us, others half as long again or more, as flows share cables.
std::vector<std::string> uplinks_found(const std::function<double(std::uint32_t)>& factor_of_uplink) {
  Layout layout = layout_of_switches(4, along_a_line);
  layout.network.hops.clear();
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = from / hosts_a_switch, other = to / hosts_a_switch;
    if (one == other) return std::log(40e3);
    const double shared = 0.1 * static_cast<double>(((from + to) * 31 ^ from * to * 17) % 6);
    return std::log(60e3) + shared + std::log(std::max(factor_of_uplink(one), factor_of_uplink(other)));
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  std::vector<std::string> uplinks;
  for (const std::string& one : faults_of(diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false}))) {
    if (one.starts_with("uplink")) uplinks.push_back(one);
  }
  return uplinks;
}

TEST(slow_paths, under_load_half_of_the_uplinks_are_named_by_the_lowest_groups) {
  const auto uplink = [](std::int32_t one) {
    return described({ComponentKind::uplink, 0, one, -1, -1}, FaultDirection::both);
  };
  EXPECT_THAT(uplinks_found([](std::uint32_t leaf) { return leaf == 1   ? 3.0
                                                            : leaf == 2 ? 2.0
                                                                        : 1.0; }),
              testing::UnorderedElementsAre(uplink(1), uplink(2)));
  EXPECT_THAT(uplinks_found([](std::uint32_t) { return 1.0; }), IsEmpty());
}

/// Of four leaf switches, between which pairs take three times as long as below one, and so much beyond that: the
/// uplinks that need action.
std::vector<std::string> proven_uplinks(const Matrix& beyond) {
  Layout layout = layout_of_switches(4, along_a_line);
  layout.network.hops.clear();
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    if (from / hosts_a_switch == to / hosts_a_switch) return std::log(40e3);
    const double scatter = 0.01 * static_cast<double>(((from + to) * 31 ^ from * to * 17) % 6);
    return std::log(120e3) + scatter + beyond(from, to);
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  std::vector<std::string> uplinks;
  for (const Fault& fault : diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false}).faults) {
    if (fault.component.kind == ComponentKind::uplink && list_of(fault) == FindingList::persistent)
      uplinks.push_back(described(fault.component, fault.direction));
  }
  return uplinks;
}

TEST(slow_paths, under_load_an_uplink_is_proven_by_its_hosts_not_by_its_pairs) {
  const auto is_of_leaf = [](std::uint32_t host) { return host / hosts_a_switch == 1; };
  EXPECT_THAT(proven_uplinks([&](std::uint32_t from, std::uint32_t to) {
                return is_of_leaf(from) || is_of_leaf(to) ? std::log(1.3) : 0;
              }),
              ElementsAre(described({ComponentKind::uplink, 0, 1, -1, -1}, FaultDirection::both)));
  // Those of one host: what goes there shares a cable.
  EXPECT_THAT(proven_uplinks([&](std::uint32_t from, std::uint32_t to) {
                return from == hosts_a_switch || to == hosts_a_switch ? 4 * std::log(1.3) : 0;
              }),
              IsEmpty());
}

TEST(slow_paths, hosts_behind_one_that_nobody_tells_are_one_finding) {
  Layout layout = layout_of_switches(4, along_a_line);
  layout.network = {};
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const bool is_across = (from / hosts_a_switch == 3) != (to / hosts_a_switch == 3);
    return std::log(is_across ? 4000 : 1500) + 0.004 * static_cast<double>((from * 7 + to * 13) % 5);
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  const Diagnosis diagnosis = diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false});
  ASSERT_EQ(diagnosis.faults.size(), 1U);
  EXPECT_EQ(diagnosis.faults.front().name, "the way between h[12-15] and the others");
  EXPECT_THAT(diagnosis.faults.front().hosts, ElementsAre(12, 13, 14, 15));
  EXPECT_EQ(list_of(diagnosis.faults.front()), FindingList::untested);
}

/// A line of three switches under load: pairs across the cable at its end take twice as long, but for one in three.
TEST(slow_paths, are_measured_again_by_all_pairs_that_must_pass_them) {
  constexpr std::uint32_t num = 24, hosts = 8;
  const Layout layout = layout_of_switches(3, along_a_line, hosts);
  DenseRows rows(num, 1);
  const auto take = [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = from / hosts, other = to / hosts;
    const double scatter = 1 + 0.001 * static_cast<double>((from * 7 + to * 13) % 5);
    if (one == other) return 43e3 * scatter;
    const bool is_slow = (one == 2) != (other == 2) && (from + to) % 3 != 0;
    return (is_slow ? 700e3 : 330e3) * scatter;
  };
  fill(rows, [&](std::uint32_t from, std::uint32_t to) { return std::log(take(from, to)); });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  // Only pairs of the switches at both ends are measured again.
  const auto again = [&](std::span<const OrderedPair> pairs, Load load) {
    std::vector<RetestTimes> times;
    for (const auto& [from, to] : pairs) {
      const bool is_known = load == Load::alone && std::min(from, to) < hosts && std::max(from, to) >= 2 * hosts;
      times.push_back(is_known ? RetestTimes{take(from, to), take(from, to)} : RetestTimes{});
    }
    return times;
  };
  std::vector<OrderedPair> retested;
  for (std::uint32_t from = 0; from < hosts; ++from) {
    for (std::uint32_t to = 2 * hosts; to < num; ++to) retested.push_back({from, to});
  }
  const Diagnosis diagnosis = diagnose({.rows = rows_of,
                                        .layout = layout,
                                        .num_pairs = std::uint64_t{num} * (num - 1),
                                        .has_means = false,
                                        .retest = again,
                                        .retested = retested});
  ASSERT_THAT(faults_of(diagnosis), testing::Contains(cable(1, 2)));
  for (const Fault& fault : diagnosis.faults) {
    if (fault.component.kind == ComponentKind::cable) {
      EXPECT_NE(fault.persistence, Persistence::not_retested);
    }
  }
}

/// Four groups of eight hosts that nobody tells: near pairs take 85 us, far ones four times as long under load.
TEST(slow_paths, that_many_take_hide_no_slow_port) {
  constexpr std::uint32_t num = 64, slow_host = 9;
  Layout layout;
  for (std::uint32_t rank = 0; rank < num; ++rank) layout.host_of.push_back(rank / 2);
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = from / 2, other = to / 2;
    const double scatter = Random(from * num + to).uniform();
    if (one == other) return std::log(96e3) + 0.02 * scatter;
    const double usual = one / 8 == other / 8 ? std::log(85e3) + 0.02 * scatter : std::log(330e3) + 0.5 * scatter;
    return one == slow_host || other == slow_host ? std::max(usual, std::log(1080e3)) : usual;
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  const Diagnosis diagnosis = diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false});
  EXPECT_THAT(faults_of(diagnosis),
              ElementsAre(described({ComponentKind::port, -1, slow_host, -1, -1}, FaultDirection::both)));
  for (const Fault& fault : diagnosis.faults) EXPECT_FALSE(fault.is_unproven) << fault.name;
}

}  // namespace
}  // namespace leadline::diagnosis::slow_paths_test
