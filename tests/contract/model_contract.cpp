// SPDX-License-Identifier: Apache-2.0
// The simulated fabric joins the contract suite, and what only a model promises.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "contract/forked_ranks.hpp"
#include "contract/neighbourhood.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "schedule/topology.hpp"

namespace leadline::contract {
namespace {

constexpr const char* healthy = R"({
  "ranks_per_host": 2, "jitter": 0.1, "host_name": "node",
  "same_host": {"latency_ns": 500, "bandwidth_bytes_per_s": 1e10},
  "between_hosts": {"latency_ns": 2000, "bandwidth_bytes_per_s": 1e9}%s
})";

std::string with_faults(const std::string& faults) {
  std::string text = healthy;
  return text.replace(text.find("%s"), 2, faults.empty() ? "" : ", \"faults\": [" + faults + "]");
}

/// The one fabric file of this test program, removed at its end.
struct FabricFile {
  std::string path = testing::TempDir() + "leadline_fabric_" + std::to_string(::getpid()) + ".json";
  ~FabricFile() { std::remove(path.c_str()); }
};

std::string fabric_file(const std::string& text) {
  static const FabricFile file;
  std::ofstream(file.path) << text;
  return file.path;
}

class ModelRanks final : public Ranks {
 public:
  void run(int size, const std::string&, WaitMode wait, const Body& body) override {
    forked_.run(size, "model:" + fabric_file(with_faults("")), wait, body);
  }
  bool may_lose_a_rank() const override { return forked_.may_lose_a_rank(); }
  bool timed_messages_have_contents() const override { return false; }

 private:
  ForkedRanks forked_;
};

/// Rank 0's times towards `partner` in a run of `size` ranks, five batches of two messages.
std::vector<std::uint64_t> times_towards(int partner, int size, const std::string& text, kernel::Exchange exchange) {
  const std::string file = fabric_file(text);
  std::vector<Sample> samples(5);
  run_forked(size, [&](ForkedRank& self) {
    if (self.rank != 0 && self.rank != partner) return;
    const auto model = self.open("model:" + file, WaitMode::block);
    const int other = self.rank == 0 ? partner : 0;
    model->connect(other, soon());
    exchange.role = self.rank == 0 ? kernel::Role::lead : kernel::Role::follow;
    exchange.num_messages = 10;
    model->run(exchange, other, {}, samples);
  });
  std::vector<std::uint64_t> times;
  for (const Sample& sample : samples) times.push_back(sample.elapsed_ns);
  return times;
}

std::string without_jitter(std::string text) { return text.replace(text.find("0.1"), 3, "0"); }

}  // namespace

Ranks& ranks() {
  static ModelRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Model, TransportContract, testing::ValuesIn(candidates("model", {WaitMode::block})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Model, CallContract, testing::ValuesIn(pairs("model", {WaitMode::block})), party_name);
INSTANTIATE_TEST_SUITE_P(Model, AllToAllContract, testing::ValuesIn(parties("model", {WaitMode::block})), party_name);
INSTANTIATE_TEST_SUITE_P(Model, NeighbourContract, testing::ValuesIn(parties("model", {WaitMode::block}, 2)),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Model, MessagesContract, testing::ValuesIn(parties("model", {WaitMode::block}, 2)),
                         party_name);

using testing::Each;
using testing::ElementsAre;

TEST(ModelTimes, AreLatencyPlusSizeOverBandwidthBothWays) {
  const std::string text = without_jitter(with_faults(""));
  // Two round trips a batch: 4 times 500 + 1000/10 ns on one host, 4 times 2000 + 1000 ns between two.
  EXPECT_THAT(times_towards(1, 4, text, {.message_size_bytes = 1000}), Each(4 * 600u));
  EXPECT_THAT(times_towards(2, 4, text, {.message_size_bytes = 1000}), Each(4 * 3000u));
}

TEST(ModelTimes, OfAWindowQueueUpBehindEachOther) {
  const std::string text = without_jitter(with_faults(""));
  kernel::Exchange exchange{.direction = Direction::unidirectional, .message_size_bytes = 1000, .window = 2};
  // Two messages on the wire, one latency, and the receipt's latency.
  EXPECT_THAT(times_towards(2, 4, text, exchange), Each(2 * 1000u + 2000 + 2000));
  exchange.direction = Direction::bidirectional;
  EXPECT_THAT(times_towards(2, 4, text, exchange), Each(2 * 1000u + 2000));
}

/// Every rank's time for each of three exchanges of messages of 1000 bytes among four ranks; checked where it is taken.
void expect_all_to_all(const std::string& text, const std::function<std::vector<std::uint64_t>(int rank)>& expected) {
  const std::string file = fabric_file(text);
  run_forked(4, [&](ForkedRank& self) {
    const auto model = self.open("model:" + file, WaitMode::block);
    const auto partners = tournament(self.rank, self.size);
    for (const std::int32_t partner : partners) model->connect(partner, soon());
    std::vector<Sample> samples(3);
    model->all_to_all({partners, 1000}, {}, samples);
    std::vector<std::uint64_t> times;
    for (const Sample& sample : samples) times.push_back(sample.elapsed_ns);
    EXPECT_EQ(times, expected(self.rank)) << "rank " << self.rank;
  });
}

// Ranks 0 and 1 are on one host, 2 and 3 on another. The steps: 0-3 1-2, 0-1 2-3, 0-2 1-3.
TEST(ModelTimes, OfAnExchangeWithAllAreThoseOfItsSteps) {
  const std::vector<std::uint64_t> times(3, 3000 + 600 + 3000);
  expect_all_to_all(without_jitter(with_faults("")), [&](int) { return times; });
}

TEST(ModelTimes, OfAnExchangeWithAllIncludeWaitingForThoseWhoAreLate) {
  // What goes to or from rank 3 takes twice as long: 6000 between the hosts, 1200 on one. A rank is done with a step
  // when its own message is out (100 or 1000, or twice that) and the other is in:
  //          0                      1                      2                      3
  // step 1   6000                   3000                   3000                   6000
  // step 2   6000 + 100             6000 + 600             6000 + 1200            6000 + 200
  // step 3   7200 + 3000            6200 + 6000            6100 + 3000            6600 + 6000
  const std::string text = without_jitter(with_faults(R"({"slow_rank": 3, "factor": 2})"));
  expect_all_to_all(text, [](int rank) {
    constexpr std::uint64_t time_ns[] = {10200, 12200, 9100, 12600};
    return std::vector<std::uint64_t>(3, time_ns[rank]);
  });
}

schedule::TopologySpec spec(schedule::Shape shape, schedule::ChannelMode mode) { return {"", shape, mode}; }

/// Every rank looks at its exchange of messages of 1000 bytes among four ranks, all of them linked.
void on_four_ranks(
    const std::string& text, const schedule::TopologySpec& topology,
    const std::function<void(int rank, transport::Transport& model, const Neighbourhood& around)>& body) {
  const std::string file = fabric_file(text);
  run_forked(4, [&](ForkedRank& self) {
    const auto model = self.open("model:" + file, WaitMode::block);
    for (const std::int32_t partner : tournament(self.rank, self.size)) model->connect(partner, soon());
    body(self.rank, *model, Neighbourhood(schedule::Topology(topology, self.size), self.rank));
  });
}

/// The times of a rank's own exchange, with or without the barrier behind it, three times over.
void expect_exchanges(const schedule::TopologySpec& topology, std::uint64_t kernel::ExchangeSample::*time_ns,
                      const std::array<std::uint64_t, 4>& expected) {
  on_four_ranks(without_jitter(with_faults("")), topology, [&](int rank, auto& model, const Neighbourhood& around) {
    std::vector<kernel::ExchangeSample> samples(3);
    model.exchange_with_neighbours(around.exchange(1000, 1), {}, kernel::TimedExchanges{samples});
    for (const kernel::ExchangeSample& sample : samples) {
      EXPECT_EQ(sample.*time_ns, expected[static_cast<std::size_t>(rank)]) << "rank " << rank;
    }
  });
}

// Again 600 between 0 and 1, and between 2 and 3; 3000 between the hosts, of which a link is busy for 100 and 1000.
TEST(ModelTimes, OfNeighboursAreThoseOfTheLastMessage) {
  using schedule::ChannelMode, schedule::Shape;
  constexpr auto own_ns = &kernel::ExchangeSample::own_ns;
  expect_exchanges(spec(Shape::star, ChannelMode::both_ways), own_ns, {3000, 600, 3000, 3000});
  expect_exchanges(spec(Shape::star, ChannelMode::one_way), own_ns, {1000, 600, 3000, 3000});
  // Who answers is done when the answer is out, who asked when it is in.
  expect_exchanges(spec(Shape::star, ChannelMode::answered), own_ns, {6000, 600 + 100, 3000 + 1000, 3000 + 1000});
  expect_exchanges(spec(Shape::complete, ChannelMode::answered), own_ns, {6000, 6000, 4000, 4000});
  // Round once: 3000, 1000 (its own message is out), 3000, 1000; and then back from there.
  expect_exchanges(spec(Shape::ring, ChannelMode::phased), own_ns, {3000 + 1000, 3000 + 3000, 4000, 6000});
}

TEST(ModelTimes, OfTheBarrierAreThoseOfItsTokens) {
  // Ranks come at 3000, 600, 3000, 3000, and their tokens to the next arrive there at 3500, 2600, 3500, 5000; so the
  // next round begins at 5000, 3500, 3000, 3500, and tokens to the one after the next take 2000.
  expect_exchanges(spec(schedule::Shape::star, schedule::ChannelMode::both_ways),
                   &kernel::ExchangeSample::with_barrier_ns, {5000, 5500, 7000, 5500});
}

TEST(ModelTimes, OfAnswersCountFromTheMessageThatIsAnswered) {
  const auto complete = spec(schedule::Shape::complete, schedule::ChannelMode::answered);
  on_four_ranks(without_jitter(with_faults("")), complete, [](int rank, auto& model, const Neighbourhood& around) {
    std::vector<std::uint64_t> arrivals_ns(3);
    model.exchange_with_neighbours(around.exchange(1000, 0), {}, kernel::TracedExchange{arrivals_ns});
    const std::vector<std::uint64_t> expected[] = {
        {1200, 6000, 6000}, {600, 6000, 6000}, {3000, 3000, 1200}, {3000, 3000, 600}};
    EXPECT_EQ(arrivals_ns, expected[rank]) << "rank " << rank;
  });
}

TEST(ModelTimes, OfStepsAreThoseOfAllBeforeThem) {
  const std::string text = without_jitter(with_faults(R"({"slow_rank": 3, "factor": 2})"));
  on_four_ranks(text, spec(schedule::Shape::ring, schedule::ChannelMode::both_ways), [](int rank, auto& model, auto&) {
    const std::int32_t partner = rank ^ 2;  // on the other host: 3000, or twice that
    const std::vector<kernel::NeighbourChannel> channels(3, {partner, kernel::Part::both, 0});
    const std::vector<std::uint32_t> step_ends{1, 2, 3};
    kernel::ExchangeSample sample;
    std::vector<std::uint64_t> step_ends_ns(3);
    model.exchange_with_neighbours({channels, step_ends, 1000, 2}, {},
                                   kernel::TimedExchanges{{&sample, 1}, step_ends_ns});
    const std::uint64_t one_ns = rank % 2 == 1 ? 6000 : 3000;
    EXPECT_EQ(step_ends_ns, (std::vector<std::uint64_t>{one_ns, 2 * one_ns, 3 * one_ns})) << "rank " << rank;
    EXPECT_EQ(sample.own_ns, 3 * one_ns);
  });
}

// From each rank to the next: 600 within a host, of which the link is busy for 100; 3000 between hosts, busy for 1000.
TEST(ModelTimes, OfStreamsAreThoseOfTheirOwnLinks) {
  // From 1 to 2 all takes three times as long, and nothing else does.
  const std::string text = without_jitter(with_faults(R"({"slow_link": [0, 1], "factor": 3})"));
  on_four_ranks(text, spec(schedule::Shape::ring, schedule::ChannelMode::one_way), [](int rank, auto& model, auto&) {
    const std::vector<kernel::NeighbourChannel> channels{{(rank + 3) % 4, kernel::Part::receives},
                                                         {(rank + 1) % 4, kernel::Part::sends}};
    const std::vector<std::uint32_t> step_ends{2};
    for (int time = 0; time < 2; ++time) {
      std::vector<std::uint64_t> arrivals_ns(4);
      model.exchange_with_neighbours({channels, step_ends, 1000}, {}, kernel::TimedStreams{4, arrivals_ns});
      const std::vector<std::uint64_t> expected[] = {
          {3000, 4000, 5000, 6000}, {600, 700, 800, 900}, {9000, 12000, 15000, 18000}, {600, 700, 800, 900}};
      EXPECT_EQ(arrivals_ns, expected[rank]) << "rank " << rank;
    }
  });
}

/// Rank 0's times of ten exchanges.
std::vector<std::uint64_t> times_among_neighbours(const std::string& text) {
  std::vector<std::uint64_t> times;
  const auto complete = spec(schedule::Shape::complete, schedule::ChannelMode::answered);
  on_four_ranks(text, complete, [&](int rank, auto& model, const Neighbourhood& around) {
    std::vector<kernel::ExchangeSample> samples(10);
    model.exchange_with_neighbours(around.exchange(1000, 1), {}, kernel::TimedExchanges{samples});
    if (rank != 0) return;  // the rank whose memory is ours
    for (const auto& sample : samples) times.insert(times.end(), {sample.own_ns, sample.with_barrier_ns});
  });
  return times;
}

TEST(ModelTimes, OfNeighboursAreTheSameInEveryRunAndVaryWithinOne) {
  const auto first = times_among_neighbours(with_faults(""));
  for (int run = 0; run < 3; ++run) EXPECT_EQ(times_among_neighbours(with_faults("")), first);
  EXPECT_NE(first[0], first[2]);
}

TEST(ModelTimes, AreTheSameInEveryRunAndVaryWithinOne) {
  const std::string text = with_faults("");
  const auto first = times_towards(2, 4, text, {.message_size_bytes = 1000});
  EXPECT_EQ(times_towards(2, 4, text, {.message_size_bytes = 1000}), first);
  EXPECT_NE(first[0], first[1]);
  for (const std::uint64_t time_ns : first) {
    EXPECT_GE(time_ns, 4 * 3000u);
    EXPECT_LE(time_ns, 4 * 3300u + 4);
  }
}

TEST(ModelFaults, MakeTheirOwnMessagesSlow) {
  const auto time = [](int partner, const std::string& fault) {
    return times_towards(partner, 6, without_jitter(with_faults(fault)), {.message_size_bytes = 1000}).front();
  };
  EXPECT_EQ(time(2, R"({"slow_host": 1, "factor": 3})"), 4 * 9000u);
  EXPECT_EQ(time(4, R"({"slow_host": 1, "factor": 3})"), 4 * 3000u);
  EXPECT_EQ(time(1, R"({"slow_rank": 1, "factor": 2})"), 4 * 1200u);
  EXPECT_EQ(time(2, R"({"slow_link": [0, 1], "factor": 2})"), 2 * 6000u + 2 * 3000u);
}

TEST(ModelFaults, ACorruptedByteIsFoundWhereItIs) {
  const std::string file = fabric_file(with_faults(R"({"corrupt": {"from": 0, "to": 1, "message": 3, "byte": 17}})"));
  run_forked(2, [&](ForkedRank& self) {
    const auto model = self.open("model:" + file, WaitMode::block);
    model->connect(1 - self.rank, soon());
    std::vector<std::byte> out(100), in(100);
    for (const int leader : {0, 1}) {
      const auto role = self.rank == leader ? kernel::Role::lead : kernel::Role::follow;
      const kernel::Exchange exchange{.role = role, .message_size_bytes = 100, .num_messages = 6};
      const auto mismatch = model->verify(exchange, 1 - self.rank, {out.data(), in.data()}, Fill::random);
      const bool sees_it = self.rank == 1 && leader == 0;
      ASSERT_EQ(mismatch.has_value(), sees_it);
      if (!sees_it) continue;
      EXPECT_EQ(mismatch->message, 3u);
      EXPECT_EQ(mismatch->byte, 17u);
      EXPECT_EQ(mismatch->expected ^ mismatch->found, 1);
    }
  });
}

TEST(ModelFaults, ACorruptedByteOfANeighbourIsFoundWhereItIs) {
  const std::string fault = R"({"corrupt": {"from": 3, "to": 1, "message": 3, "byte": 17}})";
  const auto complete = spec(schedule::Shape::complete, schedule::ChannelMode::answered);
  on_four_ranks(with_faults(fault), complete, [](int rank, auto& model, const Neighbourhood& around) {
    Slots slots(around, rank, 1000);
    std::vector<kernel::ExchangeSample> samples(6);
    // The message is that of the third timed exchange: one comes before them.
    const auto mismatch = model.exchange_with_neighbours(around.exchange(1000, 1), slots.buffers(),
                                                         kernel::VerifiedExchanges{{.first_exchange = 50}, samples});
    ASSERT_EQ(mismatch.has_value(), rank == 1);
    if (!mismatch) return;
    EXPECT_EQ(mismatch->from, 3);
    EXPECT_EQ(mismatch->exchange, 52u);
    EXPECT_EQ(mismatch->byte, 17u);
    EXPECT_EQ(mismatch->expected ^ mismatch->found, 1);
  });
}

TEST(ModelFaults, ACorruptedByteOfMessagesOneByOneArrivesWhereItIs) {
  const std::string file = fabric_file(with_faults(R"({"corrupt": {"from": 0, "to": 1, "message": 3, "byte": 17}})"));
  run_forked(2, [&](ForkedRank& self) {
    const auto model = self.open("model:" + file, WaitMode::block);
    const std::int32_t partner = 1 - self.rank;
    model->connect(partner, soon());
    const auto messages = model->messages({&partner, 1}, 1);
    for (int number = 0; number < 6; ++number) {
      std::vector<std::byte> bytes(100);
      self.rank == 0 ? messages->post_send(1, bytes, 0) : messages->post_receive(0, bytes, 0);
      EXPECT_EQ(messages->await_any(), 0u);
      std::vector<std::byte> expected(100);
      if (self.rank == 1 && number == 3) expected[17] = std::byte{1};
      EXPECT_EQ(bytes, expected) << "message " << number;
    }
  });
}

TEST(ModelHosts, HaveNamesOfTheirOwn) {
  const std::string file = fabric_file(with_faults(""));
  run_forked(1, [&](ForkedRank& self) {
    const auto model = self.open("model:" + file, WaitMode::block);
    EXPECT_EQ(model->simulated_host(0), "node0");
    EXPECT_EQ(model->simulated_host(5), "node2");
    EXPECT_TRUE(model->info().simulated);
  });
}

TEST(ModelFiles, ThatAreWrongAreRefusedWithFileKeyAndReason) {
  const auto reason = [](const std::string& text) {
    std::string what;
    run_forked(1, [&](ForkedRank& self) {
      try {
        self.open("model:" + fabric_file(text), WaitMode::block);
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
        what = error.what();
      }
    });
    return what;
  };
  using testing::HasSubstr;
  EXPECT_THAT(reason("{"), HasSubstr("not JSON"));
  EXPECT_THAT(reason("[]"), HasSubstr("is not an object"));
  EXPECT_THAT(reason("{}"), HasSubstr("same_host: is missing"));
  EXPECT_THAT(reason(with_faults(R"({"slow_host": 0})")), HasSubstr("faults[0].factor: is missing"));
  EXPECT_THAT(reason(with_faults(R"({"slow_host": -1, "factor": 2})")),
              HasSubstr("faults[0].slow_host: is not a whole"));
  EXPECT_THAT(reason(with_faults(R"({"slow_rank": 0, "factor": 0})")), HasSubstr("is not a positive number"));
  EXPECT_THAT(reason(with_faults(R"({"slow_moon": 0, "factor": 2})")), HasSubstr("names no known fault"));
  EXPECT_THAT(reason(with_faults(R"({"slow_rank": 0, "factor": 2, "much": 1})")), HasSubstr("faults[0].much"));
  EXPECT_THAT(reason(with_faults(R"({"slow_rank": 7, "factor": 2})")), HasSubstr("there is no rank 7"));
}

TEST(ModelFiles, AmongTheExamplesFitEightRanks) {
  for (const char* name : {"slow-host.json", "slow-uplink.json"}) {
    run_forked(8,
               [&](ForkedRank& self) { self.open(std::string("model:" EXAMPLE_FOLDER "/") + name, WaitMode::block); });
  }
}

TEST(ModelFiles, ThatCannotBeReadAreRefused) {
  run_forked(1, [&](ForkedRank& self) {
    EXPECT_THROW(self.open("model", WaitMode::block), Error);
    EXPECT_THROW(self.open("model:/nowhere/fabric.json", WaitMode::block), Error);
    EXPECT_THROW(self.open("model:/", WaitMode::block), Error);
  });
}

}  // namespace leadline::contract
