// SPDX-License-Identifier: Apache-2.0
// Two switches with one way between them: nothing else of its kind is there, and yet it can be named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace leadline::diagnosis
