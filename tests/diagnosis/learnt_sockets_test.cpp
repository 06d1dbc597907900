// SPDX-License-Identifier: Apache-2.0
// Which places of hosts share a socket, from times inside hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "diagnosis/learnt_groups.hpp"
#include "made_up.hpp"

namespace leadline::diagnosis::learnt_sockets_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t num_hosts = 3, num_places = 4;

/// Ranks fill hosts one by one.
Layout layout_without_sockets() {
  Layout layout;
  for (std::uint32_t rank = 0; rank < num_hosts * num_places; ++rank) layout.host_of.push_back(rank / num_places);
  return layout;
}

/// Of ranks of hosts whose pairs of places take so many ns, with some scatter.
std::vector<std::int32_t> learnt_where(const std::function<double(std::uint32_t, std::uint32_t)>& ns_of_places) {
  const Layout layout = layout_without_sockets();
  DenseRows rows(num_hosts * num_places, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const double scatter = 0.004 * static_cast<double>((from * 7 + to * 13) % 5);
    const bool is_inside = layout.host_of[from] == layout.host_of[to];
    return scatter + std::log(is_inside ? ns_of_places(from % num_places, to % num_places) : 2000);
  });
  return learnt_sockets(rows, layout);
}

TEST(learnt_sockets, are_groups_of_places_that_are_near) {
  EXPECT_THAT(learnt_where([](std::uint32_t one, std::uint32_t other) { return one / 2 == other / 2 ? 900 : 1040; }),
              ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_THAT(learnt_where([](std::uint32_t one, std::uint32_t other) { return one % 2 == other % 2 ? 900 : 1040; }),
              ElementsAre(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(learnt_sockets, are_none_where_all_places_are_alike) {
  EXPECT_THAT(learnt_where([](std::uint32_t, std::uint32_t) { return 900; }), IsEmpty());
}

TEST(learnt_sockets, are_none_where_near_places_form_no_groups) {
  // Each is near the next one.
  EXPECT_THAT(learnt_where([](std::uint32_t one, std::uint32_t other) {
                return std::max(one, other) - std::min(one, other) == 1 ? 900 : 1040;
              }),
              IsEmpty());
  // One slow rank of all hosts.
  EXPECT_THAT(learnt_where([](std::uint32_t one, std::uint32_t other) { return one == 3 || other == 3 ? 1040 : 900; }),
              IsEmpty());
}

TEST(learnt_sockets, are_looked_for_where_nobody_has_told_them) {
  Layout layout = layout_without_sockets();
  EXPECT_TRUE(can_learn_sockets(layout));
  layout.socket_of.assign(layout.host_of.size(), 0);
  EXPECT_TRUE(can_learn_sockets(layout)) << "all on one says nothing";
  layout.socket_of[1] = 1;
  EXPECT_FALSE(can_learn_sockets(layout));
  layout.socket_of.clear();
  layout.host_of.back() = 0;
  EXPECT_FALSE(can_learn_sockets(layout)) << "hosts with unlike numbers of ranks";
}

}  // namespace
}  // namespace leadline::diagnosis::learnt_sockets_test
