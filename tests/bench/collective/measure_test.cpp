// SPDX-License-Identifier: Apache-2.0
// The collective test's measuring stage over TCP between threads: what rounds leave behind, and that sums are right.
// Times are not looked at.
#include "bench/collective/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/collective/contents.hpp"
#include "bench/collective/ring.hpp"
#include "contract/forwarding_transport.hpp"
#include "core/error.hpp"
#include "support/thread_cluster.hpp"
#include "transport/module.hpp"

namespace leadline::bench::collective {
namespace {

using test::run_on_threads;
using test::ThreadCluster;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

class NotingStore final : public CellStore {
 public:
  std::vector<CellRow> rows;
  std::vector<std::vector<double>> times_ns;
  bool fails = false;

  void write(const CellRow& row) override {
    if (fails) throw Error(ExitStatus::run_failed, "the disk is full");
    rows.push_back(row);
    auto& times = times_ns.emplace_back();
    for (const GroupTime& time : row.groups) times.push_back(time.time_ns);
  }
};

/// Changes a bit of what it receives in its message with this number.
class WrongMessages final : public transport::Messages {
 public:
  WrongMessages(std::unique_ptr<Messages> inner, int number) : inner_(std::move(inner)), left_(number) {}

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    inner_->post_send(partner, data, ticket);
  }
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    if (left_-- == 0) wrong_ = {data, ticket};
    inner_->post_receive(partner, data, ticket);
  }
  std::optional<Ticket> poll() override {
    const auto ticket = inner_->poll();
    if (ticket && !wrong_.first.empty() && *ticket == wrong_.second) {
      wrong_.first.back() ^= std::byte{1};
      wrong_ = {};
    }
    return ticket;
  }
  Ticket await_any() override { return inner_->await_any(); }

 private:
  std::unique_ptr<Messages> inner_;
  int left_;
  std::pair<std::span<std::byte>, Ticket> wrong_{};
};

class WrongTransport final : public contract::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  std::unique_ptr<transport::Messages> messages(std::span<const std::int32_t> partners, std::size_t max) override {
    return std::make_unique<WrongMessages>(inner().messages(partners, max), 1);
  }
};

struct Rank {
  NotingStore store;
  Measured measured;
  std::string error;
};

struct Setting {
  CollectiveRequest request;
  std::vector<std::uint32_t> host_of{0, 1, 2, 3, 4};
  int store_fails_on = -1;
  int wrong_on = -1;

  Setting() {
    request.rounds = 2;
    request.num_batches = 3;
    request.num_iterations = 2;
    request.num_warmup = 1;
    request.message_sizes_bytes = {8, 4000};
    request.algorithm = Algorithm::ring;
    request.wait = WaitMode::yield;
    request.verify = true;
  }

  Plan planned() const {
    return plan(request, {static_cast<int>(host_of.size()), 1, host_of}, std::vector<bool>(host_of.size(), false));
  }
};

std::unique_ptr<transport::Transport> tcp(ThreadCluster& cluster, const transport::LoadedModule& module) {
  return module->open({.rank = cluster.rank(),
                       .size = cluster.size(),
                       .host_of = cluster.host_of(),
                       .rendezvous = cluster,
                       .wait = WaitMode::yield,
                       .settings = {"tcp", module->settings, {}, {}},
                       .interface = {},
                       .progress_counter = cluster.progress_counter()});
}

std::vector<Rank> measured(const Setting& setting) {
  std::vector<Rank> ranks(setting.host_of.size());
  run_on_threads(setting.host_of, [&](ThreadCluster& cluster) {
    Rank& own = ranks[static_cast<std::size_t>(cluster.rank())];
    own.store.fails = setting.store_fails_on == cluster.rank();
    const Plan plan = setting.planned();
    MessageMemory memory(setting.request, plan);
    const auto module = transport::open_module("tcp");
    auto transport = tcp(cluster, module);
    if (setting.wrong_on == cluster.rank()) transport = std::make_unique<WrongTransport>(std::move(transport));
    try {
      measure({setting.request, plan, cluster, *transport, memory, own.store}, own.measured);
    } catch (const Error& error) {
      own.error = error.what();
    }
    cluster.barrier();
  });
  return ranks;
}

TEST(CollectiveMeasure, EveryCellIsThereInEveryRoundAndRight) {
  const Setting setting;
  const std::vector<Rank> ranks = measured(setting);
  const Plan plan = setting.planned();
  ASSERT_THAT(plan.cells, SizeIs(8));
  for (const Rank& rank : ranks) {
    EXPECT_EQ(rank.error, "");
    ASSERT_THAT(rank.store.rows, SizeIs(2 * 8));
    for (const CellRow& row : rank.store.rows) {
      EXPECT_EQ(row.membership.group, 1);
      EXPECT_GT(row.own.min, 0);
      EXPECT_LE(row.own.median, row.own.max);
    }
    EXPECT_EQ(rank.store.times_ns, ranks[0].store.times_ns) << "the slowest rank is the same for all";
    EXPECT_THAT(rank.store.times_ns[3], testing::AllOf(SizeIs(3), Each(Gt(0))));
  }
  const auto summaries = summaries_of(plan, ranks[2].measured);
  ASSERT_THAT(summaries, SizeIs(8));
  for (const CellSummary& summary : summaries) {
    EXPECT_EQ(summary.num, 6u);
    EXPECT_LE(summary.min, summary.median);
    EXPECT_GT(summary.bandwidths.bus_bytes_per_s, 0);
  }
  // Of 8 and of 4000 bytes among 5 ranks: what all receive, in each of two rounds.
  const std::uint64_t of_small = 2 + 5 + 1 + 5, of_large = 1000 + 1000 + 200 + 1000;
  EXPECT_EQ(ranks[1].measured.verified_bytes, 2 * 5 * 4 * (of_small + of_large));
}

TEST(CollectiveMeasure, GroupsMeasureAtTheSameTimeOrInTurn) {
  for (const bool serial : {false, true}) {
    Setting setting;
    setting.request.group_hosts = 2;
    setting.request.serial = serial;
    const std::vector<Rank> ranks = measured(setting);
    int num_resting = 0;
    for (const Rank& rank : ranks) {
      EXPECT_EQ(rank.error, "");
      const CellRow& row = rank.store.rows.front();
      num_resting += row.membership.group == 0 ? 1 : 0;
      EXPECT_EQ(std::isnan(row.own.min), row.membership.group == 0);
      EXPECT_THAT(rank.store.times_ns.front(), testing::AllOf(SizeIs(2 * 3), Each(Gt(0))));
    }
    EXPECT_EQ(num_resting, 1);
  }
}

TEST(CollectiveMeasure, AWrongNumberEndsTheRunOnAllRanks) {
  Setting setting;
  setting.wrong_on = 3;
  for (const Rank& rank : measured(setting)) {
    EXPECT_THAT(rank.error, testing::AllOf(HasSubstr("has a wrong number after allreduce among 5 ranks, round 1"),
                                           HasSubstr("expected")));
  }
}

TEST(CollectiveMeasure, AFullDiskEndsTheRunOnAllRanks) {
  Setting setting;
  setting.store_fails_on = 3;
  for (const Rank& rank : measured(setting)) EXPECT_THAT(rank.error, HasSubstr("the disk is full"));
}

/// Sizes that do not divide, and such that go in pieces.
TEST(CollectiveRing, IsRightWithEverySizeAndNumberOfRanks) {
  for (std::uint32_t num_ranks = 2; num_ranks <= 5; ++num_ranks) {
    std::vector<std::uint32_t> host_of;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) host_of.push_back(rank);
    run_on_threads(host_of, [&](ThreadCluster& cluster) {
      const auto module = transport::open_module("tcp");
      const auto transport = tcp(cluster, module);
      Group group;
      for (std::int32_t rank = 0; rank < cluster.size(); ++rank) group.push_back((rank + 2) % cluster.size());
      const std::vector<Operation> operations{Operation::alltoall};
      const auto partners = ring_partners(operations, group, cluster.rank());
      for (const std::int32_t partner : partners) {
        transport->connect(partner, Deadline::after(std::chrono::seconds(20)));
      }
      Ring ring(*transport, partners, group, cluster.rank(), {WaitMode::yield, std::nullopt},
                cluster.progress_counter());
      const auto place = static_cast<std::size_t>(std::ranges::find(group, cluster.rank()) - group.begin());
      for (const std::size_t num : {1u, 3u, 4u, 1001u, 200'001u}) {
        for (const auto& [operation, name, meaning] : names_of(Operation{})) {
          const Share share{operation, place, group.size(), num};
          std::vector<float> sent(share.num_sent()), received(share.num_received(), -1);
          fill(share, sent);
          ring.run({operation, num, reinterpret_cast<const std::byte*>(sent.data()),
                    reinterpret_cast<std::byte*>(received.data())},
                   2);
          EXPECT_FALSE(first_wrong(share, received)) << name << " of " << num << " among " << group.size();
        }
      }
      cluster.barrier();
    });
  }
}

}  // namespace
}  // namespace leadline::bench::collective
