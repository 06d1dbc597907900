// SPDX-License-Identifier: Apache-2.0
// The measuring stage over a transport that only takes notes: links, cells, load, and what follows from a wrong byte.
#include "bench/topology/measure.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "bench/message_memory.hpp"
#include "bench/topology/sustained_load.hpp"
#include "bench/topology/validity_warnings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "schedule/edge_list.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::topology::topology_measure_test {
namespace {

using test::run_on_threads;
using test::ThreadCluster;

constexpr int num_ranks = 4;

/// Every exchange takes (rank + 1) us; the message from a partner arrives after as many ns as its rank, and 100.
class NotingTransport final : public transport::Transport {
 public:
  explicit NotingTransport(int rank) : rank_(rank) {}

  std::vector<int> connected;
  std::vector<std::uint64_t> verified;             ///< numbers of the exchanges
  std::map<std::size_t, std::uint64_t> num_timed;  ///< by message size, warm-up included
  std::uint64_t num_traced = 0;
  bool slots_differ = true;              ///< in everything that was verified
  std::optional<std::uint64_t> damages;  ///< the exchange in which a byte from rank 0 is wrong
  static constexpr std::uint64_t in_all = UINT64_MAX;
  std::optional<std::uint64_t> stalls;  ///< the verified exchange that takes ranks 1 and 2 seven tenths of a second
  std::vector<std::string> current_step;
  const ThreadCluster* cluster = nullptr;

  TransportInfo info() const override { return {}; }
  transport::Connected open_link(int partner, Deadline) override {
    current_step.push_back(cluster->current_step(rank_));
    connected.push_back(partner);
    return transport::Connected::anew;
  }
  void run(const kernel::Exchange&, int, const kernel::Buffers&, std::span<Sample>) override {}
  std::optional<kernel::Mismatch> verify(const kernel::Exchange&, int, const kernel::Buffers&, Fill) override {
    return std::nullopt;
  }
  void all_to_all(const kernel::AllToAllSteps&, const kernel::Buffers&, std::span<Sample>) override {}
  std::unique_ptr<transport::Messages> messages(std::span<const std::int32_t>, std::size_t) override { return nullptr; }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers&,
                                                                    const kernel::NeighbourTask& task) override {
    if (const auto* timed = std::get_if<kernel::TimedExchanges>(&task)) {
      note_timed(exchange, timed->samples);
    } else if (const auto* traced = std::get_if<kernel::TracedExchange>(&task)) {
      note_traced(exchange, traced->arrivals_ns);
    } else {
      return note_verified(exchange, std::get<kernel::VerifiedExchanges>(task));
    }
    return std::nullopt;
  }

  std::vector<transport::Resent> resent() override {
    if (rank_ != 1 && rank_ != 2) return {};
    return {{rank_ + 1, static_cast<std::uint64_t>(10 * rank_)}};
  }

  void note_timed(const kernel::NeighbourExchange& exchange, std::span<kernel::ExchangeSample> samples) {
    current_step.push_back(cluster->current_step(rank_));
    num_timed[exchange.message_size_bytes] += exchange.num_warmup + samples.size();
    fill(samples);
  }
  void note_traced(const kernel::NeighbourExchange& exchange, std::span<std::uint64_t> arrivals_ns) {
    ++num_traced;
    for (std::size_t i = 0; i < exchange.channels.size(); ++i) {
      const kernel::NeighbourChannel& channel = exchange.channels[i];
      if (kernel::receives(channel.part)) arrivals_ns[i] = 100 + static_cast<std::uint64_t>(channel.partner);
    }
  }
  std::optional<kernel::NeighbourMismatch> note_verified(const kernel::NeighbourExchange& exchange,
                                                         const kernel::VerifiedExchanges& task) {
    const auto& [contents, samples] = task;
    std::set<std::uint32_t> slots;
    std::size_t num_receives = 0;
    for (const kernel::NeighbourChannel& channel : exchange.channels) {
      if (!kernel::receives(channel.part)) continue;
      ++num_receives;
      slots.insert(channel.slot);
    }
    slots_differ = slots_differ && slots.size() == num_receives;
    fill(samples);
    std::optional<kernel::NeighbourMismatch> wrong;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      verified.push_back(contents.first_exchange + i);
      const bool is_long = stalls && (stalls == verified.back() || stalls == in_all);
      if (is_long && (rank_ == 1 || rank_ == 2)) samples[i].own_ns = 700'000'000;
      if (damages == verified.back()) wrong = {0, verified.back(), 7, 0x11, 0x22};
    }
    return wrong;
  }

 private:
  void fill(std::span<kernel::ExchangeSample> samples) const {
    const auto own_ns = 1000 * (static_cast<std::uint64_t>(rank_) + 1);
    std::fill(samples.begin(), samples.end(), kernel::ExchangeSample{own_ns, own_ns + 7});
  }

  int rank_;
};

class NotingStore final : public CellStore {
 public:
  std::vector<std::size_t> indices;
  std::vector<std::vector<double>> arrivals_ns;
  std::vector<CellSummary> cells;
  std::vector<LoadPoint> points;
  std::optional<std::size_t> fails_at;

  void write(std::size_t index, const CellRow& row, const CellSummary& summary) override {
    if (fails_at == index) throw Error(ExitStatus::run_failed, "the disk is full");
    indices.push_back(index);
    arrivals_ns.emplace_back(row.arrival_ns.begin(), row.arrival_ns.end());
    cells.push_back(summary);
  }
  void write(std::size_t index, const LoadPoint& point) override {
    EXPECT_EQ(index, points.size());
    points.push_back(point);
  }
};

/// What is left of a rank when its run is over.
struct Rank {
  std::unique_ptr<NotingTransport> transport;
  NotingStore store;
  Measured measured;
  std::string error, why;  ///< that all ranks agreed on
};

struct Setting {
  TopologyRequest request;
  std::optional<std::uint64_t> damages;       ///< on ranks 2 and 3
  std::optional<std::uint64_t> stalls;        ///< see NotingTransport
  std::optional<std::size_t> store_fails_at;  ///< on rank 1
};

Setting setting_of(std::vector<std::string> topologies) {
  Setting setting;
  setting.request.patterns = std::move(topologies);
  setting.request.message_sizes_bytes = {8, 64};
  setting.request.num_iterations = 5;
  setting.request.num_warmup = 2;
  setting.request.num_traced = 3;
  return setting;
}

Plan plan_of(const TopologyRequest& request) {
  Plan plan;
  for (const std::string& name : request.patterns) {
    plan.topologies.emplace_back(schedule::parse_topology("--topology", name, request.mode, num_ranks).at(0),
                                 num_ranks);
  }
  for (int repeat = 0; repeat < request.repeat; ++repeat) {
    for (int size = 0; size < static_cast<int>(request.message_sizes_bytes.size()); ++size) {
      for (int topology = 0; topology < static_cast<int>(plan.topologies.size()); ++topology) {
        plan.cells.push_back({topology, size, repeat, request.message_sizes_bytes[static_cast<std::size_t>(size)]});
      }
    }
  }
  return plan;
}

std::vector<Rank> measured(const Setting& setting) {
  std::vector<Rank> ranks(num_ranks);
  run_on_threads(std::vector<std::uint32_t>(num_ranks), [&](ThreadCluster& cluster) {
    Rank& own = ranks[static_cast<std::size_t>(cluster.rank())];
    own.transport = std::make_unique<NotingTransport>(cluster.rank());
    own.transport->cluster = &cluster;
    if (cluster.rank() >= 2) own.transport->damages = setting.damages;
    own.transport->stalls = setting.stalls;
    if (cluster.rank() == 1) own.store.fails_at = setting.store_fails_at;
    const Plan plan = plan_of(setting.request);
    MessageSlots slots(setting.request, num_ranks - 1, cluster.rank());
    try {
      measure({setting.request, plan, cluster, *own.transport, slots, own.store}, own.measured);
    } catch (const AgreedError& error) {
      own.error = error.problem();
      own.why = error.why();
    }
  });
  return ranks;
}

TEST(Measure, OpensEachLinkOnceBeforeTheFirstExchange) {
  const std::vector<Rank> ranks = measured(setting_of({"ring", "ring2"}));
  for (const Rank& rank : ranks) {
    std::vector<int> partners = rank.transport->connected;
    EXPECT_EQ(partners.size(), 3u);  // of four ranks a barrier needs those 1, 2 and 3 away
    std::sort(partners.begin(), partners.end());
    EXPECT_EQ(std::unique(partners.begin(), partners.end()), partners.end());
    EXPECT_EQ(rank.transport->current_step.at(2), "the opening of links");
    EXPECT_EQ(rank.transport->current_step.at(3), "topology ring, 8 B, repeat 1");
  }
}

TEST(Measure, GoesThroughThePlanInOrderAndStoresEachCell) {
  Setting setting = setting_of({"star2", "ring"});
  setting.request.repeat = 2;
  const std::vector<Rank> ranks = measured(setting);
  for (const Rank& rank : ranks) {
    EXPECT_EQ(rank.store.indices, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(rank.transport->num_timed, (std::map<std::size_t, std::uint64_t>{{8, 28}, {64, 28}}));
    EXPECT_EQ(rank.transport->num_traced, 24u);
    EXPECT_TRUE(rank.transport->verified.empty());
    EXPECT_EQ(rank.transport->current_step.back(), "topology ring, 64 B, repeat 2");
  }
  ASSERT_EQ(ranks.at(0).measured.cells.size(), 8u);
  EXPECT_EQ(ranks.at(1).measured.cells.size(), 8u);
  const CellSummary& last = ranks.at(0).measured.cells.back();
  EXPECT_EQ(last.cell.topology_index, 1);
  EXPECT_EQ(last.cell.repeat, 1);
  EXPECT_EQ(last.exchange.median, 4000);
  EXPECT_EQ(last.with_barrier.median, 1007);
  EXPECT_EQ(last.slowest_rank.rank, 3);
}

TEST(Measure, NotesArrivalsByChannelWhereverTheyStandInTheSteps) {
  Setting setting = setting_of({"star2", "ring", "incast:1"});
  setting.request.max_outstanding = 1;
  const std::vector<Rank> ranks = measured(setting);
  EXPECT_EQ(ranks.at(0).store.arrivals_ns.at(0), (std::vector<double>{101, 102, 103}));
  EXPECT_EQ(ranks.at(2).store.arrivals_ns.at(0), (std::vector<double>{100}));
  EXPECT_EQ(ranks.at(0).store.arrivals_ns.at(1), (std::vector<double>{101, 103}));  // right, left
  EXPECT_EQ(ranks.at(0).store.arrivals_ns.at(2), (std::vector<double>{101, 102, 103}));
  EXPECT_EQ(ranks.at(2).store.arrivals_ns.at(2), (std::vector<double>{0}));  // sends only
}

TEST(Measure, VerifiesEachCellWithContentsThatNeverComeAgain) {
  Setting setting = setting_of({"complete", "ring"});
  setting.request.verify = true;
  const std::vector<Rank> ranks = measured(setting);
  for (const Rank& rank : ranks) {
    ASSERT_EQ(rank.transport->verified.size(), 20u);
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(rank.transport->verified[i], i);
    EXPECT_TRUE(rank.transport->slots_differ);
    EXPECT_EQ(rank.measured.verified_bytes, 5u * (12 + 8) * (8 + 64));
  }
}

TEST(Measure, KeepsTheCellInWhichAWrongByteCameAndEndsThereOnAllRanks) {
  Setting setting = setting_of({"complete", "ring"});
  setting.request.verify = true;
  setting.damages = 7;
  for (const Rank& rank : measured(setting)) {
    EXPECT_EQ(
        rank.error,
        "rank 2 on node0 received a wrong byte from rank 0 in topology ring, exchange 7: byte 7 of a message of 8 "
        "bytes");
    EXPECT_EQ(rank.store.indices, (std::vector<std::size_t>{0, 1}));
  }
}

TEST(Measure, EndsOnAllRanksWhereOneCannotWrite) {
  Setting setting = setting_of({"ring"});
  setting.store_fails_at = 1;
  const std::vector<Rank> ranks = measured(setting);
  for (const Rank& rank : ranks) EXPECT_EQ(rank.error, "the disk is full");
  EXPECT_EQ(ranks.at(0).store.indices, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(ranks.at(1).store.indices, (std::vector<std::size_t>{0}));
}

Setting load_of(std::vector<std::string> topologies, double duration_s = 0.02) {
  Setting setting = setting_of(std::move(topologies));
  setting.request.duration_s = duration_s;
  return setting;
}

TEST(Load, GoesRoundAllCellsUntilItsTimeIsOver) {
  const std::uint64_t start_ns = now_ns();
  const std::vector<Rank> ranks = measured(load_of({"star2", "ring"}));
  EXPECT_GE(now_ns() - start_ns, 20'000'000u);
  const std::vector<LoadPoint>& load = ranks.at(0).measured.load;
  ASSERT_FALSE(load.empty());
  double end_s = 0;
  std::uint64_t num_exchanges = 0;
  for (std::size_t i = 0; i < load.size(); ++i) {
    EXPECT_EQ(load[i].cell.topology_index, static_cast<int>(i % 2));
    EXPECT_EQ(load[i].cell.size_index, static_cast<int>(i / 2 % 2));
    EXPECT_EQ(load[i].cell.repeat, static_cast<int>(i / 4));
    EXPECT_GE(load[i].begin_s, end_s);
    EXPECT_GE(load[i].num_exchanges, 1u);
    EXPECT_EQ(load[i].num_verified, load[i].num_exchanges);
    EXPECT_EQ(load[i].time_ns_median, 4000);
    EXPECT_EQ(load[i].time_ns_max, 4000);
    end_s = load[i].begin_s + load[i].elapsed_s;
    num_exchanges += load[i].num_exchanges;
  }
  for (const Rank& rank : ranks) {
    EXPECT_EQ(rank.store.points.size(), load.size());
    ASSERT_EQ(rank.transport->verified.size(), num_exchanges);  // as many on every rank
    for (std::uint64_t i = 0; i < num_exchanges; ++i) ASSERT_EQ(rank.transport->verified[i], i);
    EXPECT_TRUE(rank.transport->slots_differ);
    EXPECT_EQ(rank.measured.verified_bytes, ranks.at(0).measured.verified_bytes);
  }
}

TEST(Load, VerifiesEverySoManyExchanges) {
  Setting setting = load_of({"ring"});
  setting.request.verify_every = 3;
  const std::vector<Rank> ranks = measured(setting);
  std::uint64_t num_exchanges = 0, num_verified = 0;
  for (const LoadPoint& point : ranks.at(0).measured.load) {
    num_exchanges += point.num_exchanges;
    num_verified += point.num_verified;
  }
  EXPECT_EQ(num_verified, (num_exchanges + 2) / 3);
  for (const Rank& rank : ranks) {
    ASSERT_EQ(rank.transport->verified.size(), num_verified);
    for (std::uint64_t i = 0; i < num_verified; ++i) ASSERT_EQ(rank.transport->verified[i], 3 * i);
    std::uint64_t num_timed = 0;
    for (const auto& [size, num] : rank.transport->num_timed) num_timed += num;
    EXPECT_EQ(num_timed, num_exchanges - num_verified);
  }
}

TEST(Load, GoesOnBehindAWrongByteAndCounts) {
  Setting setting = load_of({"star2", "ring"}, 1);
  setting.damages = 0;
  const std::vector<Rank> ranks = measured(setting);
  EXPECT_GT(ranks.at(0).store.points.size(), 1u);
  for (const Rank& rank : ranks) {
    EXPECT_THAT(rank.error, testing::StartsWith("rank 2 on node0 received a wrong byte from rank 0 in topology star2"));
    EXPECT_EQ(rank.why, fmt::format("expected 0x11, found 0x22; wrong bytes came in 1 of {} slices",
                                    ranks.at(0).store.points.size()));
  }
}

TEST(Load, TellsOfAStall) {
  Setting setting = load_of({"ring"}, 1);
  setting.stalls = 3;
  for (const Rank& rank : measured(setting)) {
    const std::vector<LoadStall>& stalls = rank.measured.stalls;
    ASSERT_EQ(stalls.size(), 1u);
    EXPECT_EQ(stalls[0].cell.topology_index, 0);
    EXPECT_DOUBLE_EQ(stalls[0].length_s, 0.7);
    EXPECT_LT(stalls[0].begin_s, 1);
    ASSERT_EQ(stalls[0].resent.size(), 2u);
    EXPECT_EQ(stalls[0].resent[0].from, 2);
    EXPECT_EQ(stalls[0].resent[0].to, 3);
    EXPECT_EQ(stalls[0].resent[0].num, 20u);
    EXPECT_EQ(stalls[0].resent[1].from, 1);
  }
}

TEST(Load, TakesNoStallForWhatAlwaysLastsSoLong) {
  Setting setting = load_of({"ring"}, 1);
  setting.stalls = NotingTransport::in_all;
  for (const Rank& rank : measured(setting)) EXPECT_TRUE(rank.measured.stalls.empty());
}

TEST(Load, EndsOnAllRanksAfterTheSliceInWhichAWrongByteCame) {
  Setting setting = load_of({"star2", "ring"});
  setting.damages = 0;
  setting.request.stop_at_first = true;
  for (const Rank& rank : measured(setting)) {
    EXPECT_EQ(
        rank.error,
        "rank 2 on node0 received a wrong byte from rank 0 in topology star2, exchange 0: byte 7 of a message of 8 "
        "bytes");
    EXPECT_EQ(rank.store.points.size(), 1u);
  }
}

TEST(StallsFinding, TellsTheLongestFirstWithItsLinks) {
  const auto who = [](std::int32_t rank) { return fmt::format("rank {} on n{}", rank, rank); };
  EXPECT_FALSE(stalls_finding({}, 76, {}, who));
  TopologyFacts ring;
  ring.name = "ring";
  const Cell cell{0, 0, 0, 1024};
  const auto one = stalls_finding({{cell, 1, 0.6, {}}, {cell, 2.5, 7, {{1, 2, 9}, {2, 1, 4}}}}, 76, {ring}, who);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->message, "The load stood still 2 times, for up to 7.00 s.");
  EXPECT_EQ(one->evidence,
            "ring with 1 KiB at 2.50 s for 7.00 s, sent again: rank 1 on n1 -> rank 2 on n2 (9 TCP segments), rank 2 "
            "on n2 -> rank 1 on n1 (4 TCP segments); ring with 1 KiB at 1.00 s for 0.60 s");
  EXPECT_EQ(one->ranks, (std::vector<std::int32_t>{1, 2}));
  EXPECT_DOUBLE_EQ(one->time_share, 0.1);
  EXPECT_EQ(one->list, FindingList::only_under_load);
  std::vector<std::string> numbers;
  for (const FoundNumber& number : one->numbers) {
    numbers.push_back(
        fmt::format("{} {} {}: {}", number.name, number.value, number.unit, fmt::join(number.ranks, " ")));
  }
  EXPECT_EQ(numbers, (std::vector<std::string>{
                         "begin of stall 2.5 s: ", "length of stall 7 s: ", "TCP segments sent again 9 1: 1 2",
                         "TCP segments sent again 4 1: 2 1", "begin of stall 1 s: ", "length of stall 0.6 s: "}));
}

TEST(SliceS, IsASecondOrWhatTheFileHasRoomFor) {
  EXPECT_DOUBLE_EQ(slice_s(60, 12, 0, 0), 1);
  EXPECT_DOUBLE_EQ(slice_s(60, 12, 30, 31), 1);
  EXPECT_DOUBLE_EQ(slice_s(40'960, 12, 0, 0), 10);
}

TEST(SliceS, LeavesTimeForEachCellOnce) {
  EXPECT_DOUBLE_EQ(slice_s(6, 12, 0, 0), 0.5);
  EXPECT_DOUBLE_EQ(slice_s(6, 12, 10, 5.5), 0.25);  // two cells have not come
}

TEST(Thinned, KeepsAtMostSoManyEvenlySpread) {
  Thinned thinned(8);
  for (int i = 0; i < 100; ++i) {
    thinned.add(i);
    ASSERT_LE(thinned.kept().size(), 8u);
  }
  EXPECT_EQ(thinned.kept(), (std::vector<double>{0, 16, 32, 48, 64, 80, 96}));
  Thinned few(8);
  for (int i = 0; i < 8; ++i) few.add(i);
  EXPECT_EQ(few.kept().size(), 8u);
}

}  // namespace
}  // namespace leadline::bench::topology::topology_measure_test
