// SPDX-License-Identifier: Apache-2.0
// Links of ranks that are threads, more than may be open at once: those that are needed together are there together.
#include "transport/link_sockets.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/error.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::transport::link_sockets_test {
namespace {

constexpr int num_ranks = 8;  // a barrier among them has five partners: 1, 2 and 4 away

Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

void on_all_ranks(const std::function<void(test::ThreadCluster&, const std::vector<std::int32_t>&)>& body) {
  test::run_on_threads(std::vector<std::uint32_t>(num_ranks), [&](test::ThreadCluster& cluster) {
    body(cluster, kernel::barrier_partners(cluster.rank(), num_ranks));
  });
}

/// All pairs as seven matchings, one behind the other: rank with rank xor k.
void connect_to(LinkSockets& sockets, int rank, const std::vector<std::int32_t>& partners) {
  for (int k = 1; k < num_ranks; ++k) {
    if (std::count(partners.begin(), partners.end(), rank ^ k) > 0) sockets.connect(rank ^ k, soon());
  }
}

void expect_link(const LinkEnds& ends, int rank) {
  const char out = static_cast<char>(rank);
  char in = -1;
  ASSERT_EQ(::send(ends.out, &out, 1, MSG_NOSIGNAL), 1);
  ASSERT_EQ(::recv(ends.in, &in, 1, MSG_WAITALL), 1);
}

bool has_all(const LinkSockets& sockets, const std::vector<std::int32_t>& partners) {
  try {
    sockets.all_ends(partners);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool on_all(test::ThreadCluster& cluster, bool own) {
  const auto worse = [](const std::string& left, std::string_view right) {
    return left.empty() ? std::string(right) : left;
  };
  return cluster.all_reduce(own ? "" : "not here", worse).empty();
}

TEST(LinkSockets, KeepThoseOfBarriersWhilePartnersComeAndGo) {
  on_all_ranks([](test::ThreadCluster& cluster, const std::vector<std::int32_t>& barrier_partners) {
    const int rank = cluster.rank();
    LinkSockets sockets(rank, num_ranks, cluster, barrier_partners.size() + 1);
    connect_to(sockets, rank, barrier_partners);
    for (int round = 0; round < 3; ++round) {
      for (int k = 1; k < num_ranks; ++k) {
        sockets.connect(rank ^ k, soon());
        std::vector<std::int32_t> needed = barrier_partners;
        needed.push_back(rank ^ k);
        const bool has_them = has_all(sockets, needed);
        EXPECT_TRUE(has_them) << "rank " << rank << " with " << (rank ^ k);
        if (on_all(cluster, has_them)) expect_link(sockets.ends(rank ^ k), rank);
        cluster.barrier();
      }
    }
  });
}

TEST(LinkSockets, CloseThatWhichWasConnectedLongestAgo) {
  on_all_ranks([](test::ThreadCluster& cluster, const std::vector<std::int32_t>&) {
    const int rank = cluster.rank();
    LinkSockets sockets(rank, 1, cluster, 2);  // no barriers: one rank has none
    sockets.connect(rank ^ 1, soon());
    sockets.connect(rank ^ 2, soon());
    sockets.connect(rank ^ 1, soon());  // again: the oldest is now the other
    sockets.connect(rank ^ 3, soon());
    EXPECT_TRUE(has_all(sockets, {rank ^ 1, rank ^ 3}));
    EXPECT_FALSE(has_all(sockets, {rank ^ 2}));
    cluster.barrier();
  });
}

TEST(LinkSockets, WaitForAPartnerThatIsNotThereYetWhereSilenceIsTheLimit) {
  for (const int late : {0, 1}) {
    test::run_on_threads(std::vector<std::uint32_t>(2), [&](test::ThreadCluster& cluster) {
      const int rank = cluster.rank();
      LinkSockets sockets(rank, 2, cluster, 2);
      sockets.give_up_silent_links(std::chrono::milliseconds(50));
      const auto connect = [&](std::chrono::milliseconds patience) {
        return sockets.connect(1 - rank, Deadline::after(patience));
      };
      if (rank == late) ::usleep(200'000);
      // The rendezvous of these tests has deadlines of its own.
      const bool waits_in_meeting = rank == 1 && late == 0;
      EXPECT_EQ(connect(std::chrono::milliseconds(waits_in_meeting ? 20'000 : 50)), Connected::anew);
      if (rank == late) ::usleep(200'000);
      EXPECT_EQ(connect(std::chrono::milliseconds(50)), Connected::again);
      expect_link(sockets.ends(1 - rank), rank);
      cluster.barrier();
    });
  }
}

TEST(LinkSockets, TellOnceOfAPartnerThatHasDroppedTheLink) {
  test::run_on_threads(std::vector<std::uint32_t>(3), [&](test::ThreadCluster& cluster) {
    const int rank = cluster.rank();
    LinkSockets sockets(rank, 3, cluster, 3);
    sockets.give_up_silent_links(std::chrono::seconds(20));
    for (const int partner : {rank == 0 ? 1 : 0, rank == 2 ? 1 : 2}) sockets.connect(partner, soon());
    const std::vector<std::int32_t> partners{0, 1, 2};  // none to the rank itself
    const auto check = sockets.loss_check(partners);
    const auto after_a_while = [&] {
      ::usleep(50'000);
      check();
    };
    EXPECT_NO_THROW(after_a_while());
    cluster.barrier();
    if (rank == 1) sockets.drop(2);
    cluster.barrier();
    if (rank != 1) {
      try {
        after_a_while();
        EXPECT_EQ(rank, 0);
      } catch (const cluster::ConnectionLost& lost) {
        EXPECT_EQ(rank, 2);
        EXPECT_EQ(lost.partner(), 1);
      }
      EXPECT_NO_THROW(after_a_while());
    }
    cluster.barrier();
  });
}

TEST(LinkLimit, SharesOpenFilesAmongLinks) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto limit_with = [&](rlim_t num_files, std::size_t files_a_link) {
    const rlimit scarce{num_files, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &scarce), 0);
    return link_limit(files_a_link);
  };
  EXPECT_EQ(limit_with(70, 1), 6u);
  EXPECT_EQ(limit_with(70, 3), 2u);
  EXPECT_EQ(limit_with(66, 3), 1u) << "one at least";
  EXPECT_EQ(limit_with(40, 1), 1u);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace leadline::transport::link_sockets_test
