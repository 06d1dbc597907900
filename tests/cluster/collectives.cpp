// SPDX-License-Identifier: Apache-2.0
// Collectives give every rank the right answer, for every small number of ranks and every way of waiting.
#include <sched.h>
#include <unistd.h>

#include <numeric>
#include <set>

#include "ranks.hpp"

namespace leadline::cluster {
namespace {

std::string sum(std::string left, std::string_view right) {
  return std::to_string(std::stoll(left) + std::stoll(std::string(right)));
}

class Sizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Collectives, Sizes, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 16));

TEST_P(Sizes, everybody_knows_who_takes_part) {
  EXPECT_FINE(run_ranks(GetParam(), [&](Cluster& cluster) {
    require(cluster.size() == GetParam(), "size");
    require(cluster.host_of().size() == static_cast<std::size_t>(GetParam()), "a host for every rank");
    require(cluster.num_hosts() == 1, "one host");
    require(cluster.launcher() == "local", "launcher");
    require(cluster.on_loopback(), "on loopback");
  }));
}

TEST_P(Sizes, all_reduce_combines_every_rank_once) {
  EXPECT_FINE(run_ranks(GetParam(), [&](Cluster& cluster) {
    const long long size = GetParam();
    const std::string total = cluster.all_reduce(std::to_string(cluster.rank() + 1), sum);
    require(total == std::to_string(size * (size + 1) / 2), "sum is " + total);
  }));
}

TEST_P(Sizes, gather_brings_every_text_to_rank_0) {
  EXPECT_FINE(run_ranks(GetParam(), [&](Cluster& cluster) {
    std::set<int> seen;
    const std::string own(static_cast<std::size_t>(cluster.rank()) * 1000, static_cast<char>('a' + cluster.rank()));
    cluster.gather(own, [&](int rank, std::string_view text) {
      require(seen.insert(rank).second, "each rank once");
      require(text == std::string(static_cast<std::size_t>(rank) * 1000, static_cast<char>('a' + rank)), "its text");
    });
    require(seen.size() == (cluster.rank() == 0 ? static_cast<std::size_t>(GetParam()) : 0), "all, at the root only");
  }));
}

TEST_P(Sizes, broadcast_gives_rank_0s_text_to_all) {
  EXPECT_FINE(run_ranks(GetParam(), [&](Cluster& cluster) {
    for (const std::size_t length : {0UL, 1UL, 503UL, 504UL, 505UL, 3'000'000UL}) {
      const std::string text(length, 'x');
      require(cluster.broadcast(cluster.rank() == 0 ? text : "mine") == text, "length " + std::to_string(length));
    }
  }));
}

TEST_P(Sizes, agree_lets_everybody_throw_the_lowest_ranks_error) {
  EXPECT_FINE(run_ranks(GetParam(), [&](Cluster& cluster) {
    cluster.agree(nullptr);
    const Error own(ExitStatus::something_missing, "no device on rank " + std::to_string(cluster.rank()), "why",
                    "hint");
    const int lowest = cluster.size() / 2;
    bool has_thrown = false;
    try {
      cluster.agree(cluster.rank() >= lowest ? &own : nullptr);
    } catch (const Error& error) {
      has_thrown = true;
      require(error.status() == ExitStatus::something_missing, "status");
      require(error.problem() == "no device on rank " + std::to_string(lowest), error.problem());
      require(error.why() == "why" && error.hint() == "hint", "why and hint");
    }
    require(has_thrown, "everybody throws");
    cluster.barrier();
  }));
}

TEST_P(Sizes, many_collectives_in_a_row_do_not_mix) {
  EXPECT_FINE(run_ranks(GetParam(), [&](Cluster& cluster) {
    for (int i = 0; i < 50; ++i) {
      if (cluster.rank() == i % cluster.size()) ::sched_yield();
      cluster.barrier();
      require(cluster.broadcast(std::to_string(i)) == std::to_string(i), "broadcast");
      require(cluster.all_reduce("1", sum) == std::to_string(cluster.size()), "sum");
      cluster.gather("x", [](int, std::string_view text) { require(text == "x", "gather"); });
    }
  }));
}

TEST(Collectives, barrier_lets_nobody_through_early) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FINE(run_ranks(5, [&](Cluster& cluster) {
    for (int i = 0; i < 20; ++i) {
      // Every rank writes a byte before the barrier; behind it rank 3 must find all five.
      require(::write(ends[1], "x", 1) == 1, "write");
      cluster.barrier();
      if (cluster.rank() == 3) {
        char bytes[16];
        require(::read(ends[0], bytes, sizeof bytes) == 5, "five came before");
      }
      cluster.barrier();
    }
  }));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Collectives, work_in_every_wait_mode_with_and_without_progress) {
  EXPECT_FINE(run_ranks(4, [&](Cluster& cluster) {
    for (const WaitMode mode : {WaitMode::automatic, WaitMode::spin, WaitMode::yield, WaitMode::block}) {
      for (const bool has_progress : {false, true}) {
        int num_calls = 0;
        cluster.set_wait(mode, has_progress ? [&num_calls] { ++num_calls; } : std::function<void()>());
        for (int i = 0; i < 3; ++i) require(cluster.all_reduce("1", sum) == "4", "sum");
        // Rank 1 comes last, so the root has waited and its transport has been kept going.
        if (cluster.rank() == 1) ::usleep(2000);
        cluster.barrier();
        if (has_progress && cluster.rank() == 0) require(num_calls > 0, "progress was called");
        cluster.set_wait(WaitMode::yield, {});
      }
    }
  }));
}

TEST(Collectives, every_finished_one_beats_the_pulse) {
  EXPECT_FINE(run_ranks(3, [](Cluster& cluster) {
    const auto before = cluster.progress_counter().count.load();
    cluster.barrier();
    require(cluster.progress_counter().count.load() == before + 1, "one beat");
  }));
}

TEST(Collectives, hosts_are_counted_in_order_of_first_appearance) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, for host names of their own";
  EXPECT_FINE(run_processes(5, [](std::unique_ptr<Bootstrap> bootstrap) {
    try {
      const std::string host = bootstrap->rank() % 2 == 0 ? "anvil" : "bellows";
      require(::unshare(CLONE_NEWUTS) == 0 && ::sethostname(host.data(), host.size()) == 0, "own host name");
      const auto cluster = Cluster::join(std::move(bootstrap), {});
      require(cluster->num_hosts() == 2, "two hosts");
      require(cluster->host() == host, "own host");
      for (int rank = 0; rank < 5; ++rank) {
        require(cluster->host_of()[static_cast<std::size_t>(rank)] == static_cast<unsigned>(rank % 2), "host index");
      }
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  }));
}

}  // namespace
}  // namespace leadline::cluster
