// SPDX-License-Identifier: Apache-2.0
// The loops of a phase over TCP between threads: both ends end alike, and a held-up answer counts for all that was due.
#include "bench/congestion/traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "core/deadline.hpp"
#include "support/thread_cluster.hpp"
#include "transport/module.hpp"

namespace leadline::bench::congestion {
namespace {

using test::run_on_threads;
using test::ThreadCluster;
using testing::Each;
using testing::Gt;

constexpr std::uint64_t ms = 1'000'000;

std::vector<std::uint32_t> one_host_each(std::size_t num_ranks) {
  std::vector<std::uint32_t> hosts(num_ranks);
  std::iota(hosts.begin(), hosts.end(), 0u);
  return hosts;
}

/// Every rank with all others over TCP.
struct End {
  explicit End(ThreadCluster& cluster) : rank(cluster.rank()) {
    transport = module->open({.rank = rank,
                              .size = cluster.size(),
                              .host_of = cluster.host_of(),
                              .rendezvous = cluster,
                              .wait = WaitMode::yield,
                              .settings = {"tcp", module->settings, {}, {}},
                              .interface = {},
                              .progress_counter = cluster.progress_counter()});
    for (int other = 0; other < cluster.size(); ++other) {
      if (other == rank) continue;
      transport->connect(other, Deadline::after(std::chrono::seconds(20)));
      partners.push_back(other);
    }
    messages = transport->messages(partners, Traffic::num_tickets(partners.size()));
  }

  int rank;
  transport::LoadedModule module = transport::open_module("tcp");
  std::unique_ptr<transport::Transport> transport;
  std::vector<std::int32_t> partners;
  std::unique_ptr<transport::Messages> messages;
};

/// Does `work(end, traffic, cluster)` on all ranks.
template <class Work>
void on_ranks(std::size_t num_ranks, const Work& work) {
  run_on_threads(one_host_each(num_ranks), [&](ThreadCluster& cluster) {
    End end(cluster);
    Traffic traffic(WaitMode::yield, std::nullopt, cluster.progress_counter());
    work(end, traffic, cluster);
    cluster.barrier();  // nobody closes a link that another still looks at
  });
}

class Counting final : public StreamObserver {
 public:
  std::vector<std::uint64_t> num_sent, num_received;

  explicit Counting(std::size_t num) : num_sent(num), num_received(num) {}
  void sent(std::size_t stream, std::uint64_t) override { ++num_sent[stream]; }
  void received(std::size_t stream, std::uint64_t) override { ++num_received[stream]; }
};

TEST(CongestionTraffic, StreamsOfAllKindsEndTogether) {
  constexpr std::size_t size = 3000, num_ranks = 4;
  std::vector<std::vector<std::uint64_t>> sent(num_ranks), received(num_ranks);
  on_ranks(num_ranks, [&](End& end, Traffic& traffic, ThreadCluster&) {
    std::vector<std::byte> from(size), to(size);
    // 0 sends to all, 1 and 2 both ways, 3 with pauses to 1 and 2.
    std::vector<StreamEnd> streams;
    for (const std::int32_t partner : end.partners) {
      const int low = std::min(end.rank, partner), high = std::max(end.rank, partner);
      const bool both = low == 1 && high == 2;
      const bool sends = both || (low == 0 ? end.rank == 0 : end.rank == high);
      streams.push_back({partner, sends, both || !sends, high == 3 && sends && low > 0 ? ms : 0});
    }
    Counting counting(streams.size());
    const auto rank = static_cast<std::size_t>(end.rank);
    // Clocks of ranks do not begin alike.
    const std::uint64_t until_ns = now_ns() + (20 + 5 * rank) * ms;
    EXPECT_TRUE(traffic.stream(*end.messages, streams, {from, to}, until_ns, counting));
    EXPECT_EQ(end.messages->poll(), std::nullopt) << "all is handed out";
    sent[rank] = counting.num_sent;
    received[rank] = counting.num_received;
  });
  const auto index = [](std::size_t rank, std::size_t partner) { return partner < rank ? partner : partner - 1; };
  for (std::size_t from = 0; from < num_ranks; ++from) {
    for (std::size_t to = 0; to < num_ranks; ++to) {
      if (from == to) continue;
      EXPECT_EQ(sent[from][index(from, to)], received[to][index(to, from)]) << from << " to " << to;
    }
  }
  EXPECT_GE(sent[0][index(0, 1)], stream_window) << "without pauses";
  EXPECT_GE(sent[1][index(1, 2)], stream_window) << "both ways";
  EXPECT_GE(sent[3][index(3, 1)], stream_window) << "a millisecond between";
  EXPECT_LE(sent[3][index(3, 1)], 35 + 1 + stream_window);
}

TEST(CongestionTraffic, AStreamWhoseTimeIsOverMovesAWindow) {
  on_ranks(2, [&](End& end, Traffic& traffic, ThreadCluster&) {
    std::vector<std::byte> from(8), to(8);
    const StreamEnd stream{1 - end.rank, end.rank == 0, end.rank == 1};
    Counting counting(1);
    EXPECT_TRUE(traffic.stream(*end.messages, std::span(&stream, 1), {from, to}, 0, counting));
    EXPECT_EQ(counting.num_sent[0] + counting.num_received[0], stream_window);
  });
}

/// What rank 0 measures where rank 1 answers nothing for a while.
TEST(CongestionTraffic, WhatIsDueWhileAnswersAreHeldUpCountsFromThen) {
  constexpr std::uint64_t num = 40, interval_ns = ms, held_up_ns = 20 * ms;
  std::vector<std::uint64_t> due_ns, time_ns;
  on_ranks(2, [&](End& end, Traffic& traffic, ThreadCluster& cluster) {
    cluster.barrier();
    const std::uint64_t begin_ns = now_ns() + 5 * ms;
    if (end.rank == 1) {
      EXPECT_TRUE(traffic.answer(*end.messages, 0, num / 2));
      std::this_thread::sleep_for(std::chrono::nanoseconds(held_up_ns));
      EXPECT_TRUE(traffic.answer(*end.messages, 0, num / 2));
      return;
    }
    EXPECT_TRUE(traffic.send_on_schedule(*end.messages, 1, {num, begin_ns, interval_ns},
                                         [&](std::uint64_t due, std::uint64_t time) {
                                           due_ns.push_back(due - begin_ns);
                                           time_ns.push_back(time);
                                         }));
  });
  ASSERT_EQ(due_ns.size(), num);
  for (std::uint64_t i = 0; i < num; ++i) EXPECT_EQ(due_ns[i], i * interval_ns);
  // Message 20 waits for all of it, the next one a millisecond less, and so on: a closed loop would have seen one.
  EXPECT_GT(time_ns[num / 2], held_up_ns - 2 * ms);
  EXPECT_GT(time_ns[num / 2 + 10], held_up_ns - 12 * ms);
  const auto num_late = std::count_if(time_ns.begin(), time_ns.end(), [](std::uint64_t time) { return time > 2 * ms; });
  EXPECT_GE(num_late, 15);
}

TEST(CongestionTraffic, MoreThanMayBeUnderWayIsSentLaterAndCounts) {
  constexpr std::uint64_t num = 3 * most_unanswered, held_up_ns = 20 * ms;
  std::atomic<std::uint64_t> begin_ns = 0;
  std::vector<std::uint64_t> time_ns;
  on_ranks(2, [&](End& end, Traffic& traffic, ThreadCluster& cluster) {
    if (end.rank == 0) begin_ns = now_ns();
    cluster.barrier();
    if (end.rank == 1) {
      while (now_ns() < begin_ns + held_up_ns) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(traffic.answer(*end.messages, 0, num));
      return;
    }
    EXPECT_TRUE(traffic.send_on_schedule(*end.messages, 1, {num, begin_ns, 1000},
                                         [&](std::uint64_t, std::uint64_t time) { time_ns.push_back(time); }));
  });
  EXPECT_EQ(time_ns.size(), num);
  EXPECT_THAT(time_ns, Each(Gt(held_up_ns - ms)));
}

TEST(CongestionTraffic, AllreducesEndTogetherWhoeverIsThereFirst) {
  for (const std::size_t num_ranks : {2u, 3u, 5u}) {
    std::vector<std::size_t> num(num_ranks);
    on_ranks(num_ranks, [&](End& end, Traffic& traffic, ThreadCluster& cluster) {
      std::vector<std::int32_t> all(num_ranks);
      std::iota(all.begin(), all.end(), 0);
      cluster.barrier();
      const auto rank = static_cast<std::size_t>(end.rank);
      EXPECT_TRUE(traffic.allreduce(*end.messages, all, end.rank, now_ns() + (10 + 3 * rank) * ms,
                                    [&](std::uint64_t, std::uint64_t) { ++num[rank]; }));
      EXPECT_EQ(end.messages->poll(), std::nullopt);
    });
    EXPECT_GE(num[0], 1u);
    EXPECT_THAT(num, Each(num[0]));
  }
}

TEST(CongestionTraffic, GivesUpWhereNobodyAnswers) {
  on_ranks(2, [&](End& end, Traffic&, ThreadCluster& cluster) {
    Traffic traffic(WaitMode::yield, now_ns() + 10 * ms, cluster.progress_counter());
    if (end.rank == 0) {
      EXPECT_FALSE(traffic.send_on_schedule(*end.messages, 1, {5, now_ns(), ms}, [](std::uint64_t, std::uint64_t) {}));
    }
    cluster.barrier();
  });
}

}  // namespace
}  // namespace leadline::bench::congestion
