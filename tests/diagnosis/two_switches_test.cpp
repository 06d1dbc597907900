// SPDX-License-Identifier: Apache-2.0
// Two switches: the one way between them can be named, and few sound pairs accuse nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"
#include "diagnosis/blocks.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

constexpr Shape two_leaves{4, 2, 2, 1};

/// Pairs across take so much longer, by the names of faults_of().
std::vector<std::string> found_where_across_takes(double ratio, const Shape& shape,
                                                  const std::string& source = "file") {
  Layout layout = layout_of(machine_of(shape));
  layout.network.source = source;
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const auto& leaf_of = layout.network.levels.front().group_of;
    const bool is_across = leaf_of[layout.host_of[from]] != leaf_of[layout.host_of[to]];
    const double scatter = 0.01 * static_cast<double>((from * 7 + to * 13) % 5);
    return std::log(1e4) + scatter + (is_across ? std::log(ratio) : 0.0);
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  return faults_of(diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false}));
}

TEST(two_switches, have_a_slow_way_between_them) {
  EXPECT_THAT(found_where_across_takes(3, two_leaves),
              testing::ElementsAre(described({ComponentKind::cable, 0, 0, 1, -1}, FaultDirection::both)));
}

TEST(two_switches, are_some_way_apart_in_any_network) {
  EXPECT_THAT(found_where_across_takes(1.3, two_leaves), testing::IsEmpty());
}

TEST(two_switches, that_were_learnt_from_the_times_are_as_far_apart_as_they_are) {
  EXPECT_THAT(found_where_across_takes(3, two_leaves, "learnt from the times"), testing::IsEmpty());
}

/// Eight hosts of four ranks on the leaves 0-3 and 4-7. Pairs of a leaf take 13 us, others 17 us; some take a quarter
/// longer, as where ranks share cores. A message through the port of node1, node4 or node6 takes 253 us more.
std::vector<std::string> found_beside_three_slow_ports(std::uint64_t seed) {
  Layout layout = layout_of(machine_of({4, 2, 4, 1}));
  const auto num = static_cast<std::uint32_t>(num_ranks(layout));
  DenseRows rows(num, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t host = layout.host_of[from], other = layout.host_of[to];
    const bool is_across = host / 4 != other / 4, is_inside = host == other;
    const auto is_slow = [](std::uint32_t one) { return one == 1 || one == 4 || one == 6; };
    const auto lot = [&](std::uint64_t which) {
      return static_cast<double>(mix64(mix64(mix64(seed + which) + from) + to) >> 11) * 0x1p-53;
    };
    double us = is_inside ? 8 : is_across ? 17 : 13;
    if (lot(1) < (is_across ? 0.35 : 0.3)) us *= 1.25;
    if (!is_inside && (is_slow(host) || is_slow(other))) us += 253;
    return std::log(1e3 * us) + 0.02 * lot(2);
  });
  const auto rows_of = [&](Symptom) -> const Rows& { return rows; };
  return faults_of(diagnose({rows_of, layout, {}, std::uint64_t{num} * (num - 1), false}));
}

// A single pair that takes longer is for second measurements to tell; there are none here.
TEST(three_slow_ports, make_no_rank_look_slow) {
  const auto port = [](std::int32_t host) {
    return described({ComponentKind::port, -1, host, -1, -1}, FaultDirection::both);
  };
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::vector<std::string> found = found_beside_three_slow_ports(seed);
    std::erase_if(found, [](const std::string& one) { return one.starts_with("pair ") || one.starts_with("link "); });
    EXPECT_THAT(found, testing::UnorderedElementsAre(port(1), port(4), port(6))) << seed;
  }
}

}  // namespace
}  // namespace leadline::diagnosis
