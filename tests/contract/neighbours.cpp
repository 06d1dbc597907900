// SPDX-License-Identifier: Apache-2.0
// What every transport must do where ranks exchange messages with many neighbours.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contract/contents.hpp"
#include "contract/neighbourhood.hpp"
#include "contract/rules.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"

namespace leadline::contract {
namespace {

using kernel::ExchangeSample;
using schedule::ChannelMode;
using schedule::Shape;
using schedule::Topology;

constexpr ChannelMode all_modes[] = {ChannelMode::answered, ChannelMode::phased, ChannelMode::both_ways,
                                     ChannelMode::one_way};

std::vector<ExchangeSample> fresh_exchange_samples(std::size_t num) {
  return std::vector<ExchangeSample>(num, ExchangeSample{untouched, untouched});
}

void expect_timed(const std::vector<ExchangeSample>& samples) {
  const Checks checks(Rule::samples);
  for (const ExchangeSample& sample : samples) {
    EXPECT_GT(sample.own_ns, 0u);
    EXPECT_NE(sample.own_ns, untouched);
    EXPECT_GE(sample.with_barrier_ns, sample.own_ns);
  }
}

std::vector<Topology> topologies(int num_ranks) {
  std::vector<Topology> all;
  for (const Shape shape : {Shape::star, Shape::complete, Shape::ring}) {
    for (const ChannelMode mode : all_modes) {
      all.emplace_back(schedule::TopologySpec{.name = name_of(mode), .shape = shape, .mode = mode}, num_ranks);
    }
  }
  return all;
}

std::string in_words(const Topology& topology, std::size_t size) {
  return topology.spec().name + ", shape " + std::to_string(static_cast<int>(topology.spec().shape)) +
         ", messages of " + std::to_string(size) + " bytes";
}

/// A timed exchange: what is in each slot after it.
void exchange_and_check(End& end, const Topology& topology, std::size_t size, Steps steps = Steps::one) {
  SCOPED_TRACE(in_words(topology, size));
  const Neighbourhood around(topology, end.rank, steps);
  Slots slots(around, end.rank, size);
  auto samples = fresh_exchange_samples(1);

  end.transport.exchange_with_neighbours(around.exchange(size, 1), slots.buffers(), kernel::TimedExchanges{samples});

  expect_timed(samples);
  {
    const Checks length(Rule::length);
    EXPECT_TRUE(slots.gaps_are_blank());
  }
  const Checks receiver(Rule::receiver);
  if (!ranks().timed_messages_have_contents()) return;
  for (std::size_t i = 0; i < around.channels().size(); ++i) {
    EXPECT_TRUE(around.receives(i) ? slots.has_message(i) : slots.is_blank(i))
        << "channel " << i << " of rank " << end.rank;
  }
}

void verify_and_check(End& end, const Topology& topology, std::size_t size, Fill fill, std::size_t num_exchanges) {
  if (!ranks().can_verify()) return;
  SCOPED_TRACE(in_words(topology, size));
  const Neighbourhood around(topology, end.rank);
  Slots slots(around, end.rank, size);
  auto samples = fresh_exchange_samples(num_exchanges);
  const auto mismatch =
      end.transport.exchange_with_neighbours(around.exchange(size, 0), slots.buffers(),
                                             kernel::VerifiedExchanges{{.fill = fill, .first_exchange = 12}, samples});
  const Checks last_byte(Rule::last_byte);
  EXPECT_FALSE(mismatch) << "from rank " << mismatch->from << ", exchange " << mismatch->exchange << ", byte "
                         << mismatch->byte;
  expect_timed(samples);
  const Checks length(Rule::length);
  EXPECT_TRUE(slots.gaps_are_blank());
}

TEST_P(NeighbourContract, BringsEveryChannelItsMessage) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const Topology& topology : topologies(end.size)) {
      for (const std::size_t size : {std::size_t{1}, 4 * kib, 300 * kib}) exchange_and_check(end, topology, size);
    }
  });
}

TEST_P(NeighbourContract, DeliversEveryByteOfVerifiedExchanges) {
  if (!ranks().can_verify()) GTEST_SKIP() << "contents are made and compared in ordinary memory";
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const Topology& topology : topologies(end.size)) {
      verify_and_check(end, topology, 1, Fill::ramp, 1);
      verify_and_check(end, topology, 4 * kib, Fill::random, 3);
      verify_and_check(end, topology, 300 * kib, Fill::random, 1);
    }
  });
}

TEST_P(NeighbourContract, ServesOneChannelAfterTheOther) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const Topology& topology : topologies(end.size)) {
      exchange_and_check(end, topology, 300 * kib, Steps::one_a_channel);
    }
  });
}

TEST_P(NeighbourContract, TellsWhenEachStepOfTheLastExchangeWasDone) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const Topology& topology : topologies(end.size)) {
      SCOPED_TRACE(in_words(topology, 4 * kib));
      const Neighbourhood around(topology, end.rank, Steps::one_a_channel);
      const kernel::NeighbourExchange exchange = around.exchange(4 * kib, 2);
      Slots slots(around, end.rank, 4 * kib);
      auto samples = fresh_exchange_samples(2);
      std::vector<std::uint64_t> step_ends_ns(exchange.step_ends.size(), untouched);
      end.transport.exchange_with_neighbours(exchange, slots.buffers(), kernel::TimedExchanges{samples, step_ends_ns});
      expect_timed(samples);
      EXPECT_TRUE(std::is_sorted(step_ends_ns.begin(), step_ends_ns.end()));
      if (step_ends_ns.empty()) continue;
      EXPECT_LE(step_ends_ns.back(), samples.back().own_ns);
    }
  });
}

TEST_P(NeighbourContract, TakesOneBufferForAllChannels) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const Topology& topology : topologies(end.size)) {
      SCOPED_TRACE(in_words(topology, 1000));
      const Neighbourhood around(topology, end.rank);
      Memory memory(1000);
      memory.send.fill(Fill::random, key_from(end.rank));
      auto samples = fresh_exchange_samples(1);
      end.transport.exchange_with_neighbours(around.exchange(1000, 0), {memory.send.data(), memory.receive.data(), 0},
                                             kernel::TimedExchanges{samples});
      expect_timed(samples);
      if (around.channels().size() != 1 || !around.receives(0) || !ranks().timed_messages_have_contents()) continue;
      EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(around.channels().front().partner)));
    }
  });
}

TEST_P(NeighbourContract, LeavesARankWithoutChannelsToTheBarriers) {
  on_all_ranks([](End& end) {
    if (end.size < 3) return;
    connect_to_all(end);
    for (const ChannelMode mode : all_modes) {
      const schedule::TopologySpec spec{
          .name = name_of(mode), .shape = Shape::edges, .mode = mode, .edges = {{end.size - 1, 0}}};
      const Topology topology(spec, end.size);
      exchange_and_check(end, topology, 4 * kib);
      verify_and_check(end, topology, 4 * kib, Fill::random, 1);
    }
  });
}

TEST_P(NeighbourContract, TracesArrivalsWhereMessagesArrive) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const Topology& topology : topologies(end.size)) {
      SCOPED_TRACE(in_words(topology, 4 * kib));
      const Neighbourhood around(topology, end.rank);
      Slots slots(around, end.rank, 4 * kib);
      std::vector<std::uint64_t> arrivals_ns(around.parts().size(), untouched);
      end.transport.exchange_with_neighbours(around.exchange(4 * kib, 0), slots.buffers(),
                                             kernel::TracedExchange{arrivals_ns});
      for (std::size_t i = 0; i < arrivals_ns.size(); ++i) {
        EXPECT_EQ(arrivals_ns[i] == untouched, !kernel::receives(around.parts()[i].part)) << "channel " << i;
        EXPECT_GT(arrivals_ns[i], 0u);
      }
      for (std::size_t i = 0; i < around.channels().size() && ranks().timed_messages_have_contents(); ++i) {
        EXPECT_TRUE(around.receives(i) ? slots.has_message(i) : slots.is_blank(i)) << "channel " << i;
      }
    }
  });
}

/// Round the ranks one way, each from the one before it to the next.
TEST_P(NeighbourContract, StreamsOneWayAndTellsWhenEachMessageWasThere) {
  constexpr std::size_t num_messages = 5;
  on_all_ranks([](End& end) {
    connect_to_all(end);
    const int to = (end.rank + 1) % end.size, from = (end.rank + end.size - 1) % end.size;
    const std::vector<kernel::NeighbourChannel> channels{{from, kernel::Part::receives}, {to, kernel::Part::sends}};
    const std::vector<std::uint32_t> step_ends{2};
    for (const std::size_t size : {std::size_t{1}, 4 * kib, 300 * kib}) {
      SCOPED_TRACE("messages of " + std::to_string(size) + " bytes");
      Memory memory(size);
      memory.send.fill(Fill::random, key_from(end.rank));
      std::vector<std::uint64_t> arrivals_ns(num_messages, untouched);
      const std::uint64_t before = end.progress_counter.count;
      end.transport.exchange_with_neighbours({channels, step_ends, size},
                                             {memory.send.data(), memory.receive.data(), 0},
                                             kernel::TimedStreams{num_messages, arrivals_ns});
      EXPECT_GT(end.progress_counter.count, before);
      EXPECT_GT(arrivals_ns.front(), 0u);
      EXPECT_TRUE(std::is_sorted(arrivals_ns.begin(), arrivals_ns.end()));
      EXPECT_NE(arrivals_ns.back(), untouched);
      if (!ranks().timed_messages_have_contents()) continue;
      EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(from)));
    }
  });
}

/// The same way round, with several messages at once, each in a buffer of its own.
TEST_P(NeighbourContract, TimesBothDirectionsOfAShiftApart) {
  constexpr std::uint32_t num_messages = 3;
  on_all_ranks([](End& end) {
    connect_to_all(end);
    const int to = (end.rank + 1) % end.size, from = (end.rank + end.size - 1) % end.size;
    std::vector<kernel::NeighbourChannel> channels;
    for (std::uint32_t i = 0; i < num_messages; ++i) channels.push_back({from, kernel::Part::receives, i});
    for (std::uint32_t i = 0; i < num_messages; ++i) channels.push_back({to, kernel::Part::sends, i});
    const std::vector<std::uint32_t> step_ends{2 * num_messages};
    for (const std::size_t size : {std::size_t{1}, 4 * kib, 300 * kib}) {
      SCOPED_TRACE("messages of " + std::to_string(size) + " bytes");
      Memory memory(num_messages * size);
      memory.send.fill(Fill::random, key_from(end.rank));
      std::vector<kernel::DirectionSample> samples(2, {untouched, untouched});
      const std::uint64_t before = end.progress_counter.count;
      end.transport.exchange_with_neighbours({channels, step_ends, size, 1},
                                             {memory.send.data(), memory.receive.data(), size},
                                             kernel::TimedDirections{samples});
      EXPECT_GE(end.progress_counter.count, before + 3);
      for (const kernel::DirectionSample& sample : samples) {
        EXPECT_GT(sample.sent_ns, 0u);
        EXPECT_NE(sample.sent_ns, untouched);
        EXPECT_GT(sample.received_ns, 0u);
        EXPECT_NE(sample.received_ns, untouched);
      }
      if (!ranks().timed_messages_have_contents()) continue;
      EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(from)));
    }
  });
}

TEST_P(NeighbourContract, LeavesARankWithoutAStreamToTheBarriers) {
  on_all_ranks([](End& end) {
    if (end.size < 3) return;
    connect_to_all(end);
    std::vector<kernel::NeighbourChannel> channels;
    if (end.rank == 0) channels.push_back({1, kernel::Part::sends});
    if (end.rank == 1) channels.push_back({0, kernel::Part::receives});
    const std::vector<std::uint32_t> step_ends{static_cast<std::uint32_t>(channels.size())};
    Memory memory(4 * kib);
    std::vector<std::uint64_t> arrivals_ns(end.rank == 1 ? 3 : 0, untouched);
    end.transport.exchange_with_neighbours({channels, step_ends, 4 * kib},
                                           {memory.send.data(), memory.receive.data(), 0},
                                           kernel::TimedStreams{3, arrivals_ns});
    for (const std::uint64_t arrival_ns : arrivals_ns) EXPECT_NE(arrival_ns, untouched);
  });
}

TEST_P(NeighbourContract, BeatsThePulseAfterEveryExchange) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    const Neighbourhood around(topologies(end.size).front(), end.rank);
    Slots slots(around, end.rank, 8);
    auto samples = fresh_exchange_samples(4);
    std::vector<std::uint64_t> arrivals_ns(around.parts().size());
    const Checks checks(Rule::progress_counter);
    const std::uint64_t before = end.progress_counter.count;
    end.transport.exchange_with_neighbours(around.exchange(8, 2), slots.buffers(), kernel::TimedExchanges{samples});
    EXPECT_GE(end.progress_counter.count, before + 6);
    end.transport.exchange_with_neighbours(around.exchange(8, 0), slots.buffers(), kernel::TracedExchange{arrivals_ns});
    EXPECT_GE(end.progress_counter.count, before + 7);
    if (!ranks().can_verify()) return;
    end.transport.exchange_with_neighbours(around.exchange(8, 0), slots.buffers(),
                                           kernel::VerifiedExchanges{{}, samples});
    EXPECT_GE(end.progress_counter.count, before + 11);
  });
}

TEST_P(NeighbourContract, LeavesItsLinksFitForMeasurements) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    const Topology topology = topologies(end.size).front();
    exchange_and_check(end, topology, 100);
    const auto partners = tournament(end.rank, end.size);
    Memory memory(100);
    auto samples = fresh_samples(2);
    end.transport.all_to_all({partners, 100}, memory.buffers(), samples);
    EXPECT_NE(samples.front().elapsed_ns, untouched);
    exchange_and_check(end, topology, 10);
  });
}

TEST_P(NeighbourContract, ANeighbourThatVanishesIsAnErrorThatNamesIt) {
  if (!ranks().may_lose_a_rank())
    GTEST_SKIP() << "the library ends the whole run when a rank vanishes, or does not notice";
  on_all_ranks([](End& end) {
    connect_to_all(end);
    if (end.rank == 1) return;
    const Neighbourhood around(topologies(end.size).front(), end.rank);
    Slots slots(around, end.rank, 4 * kib);
    auto samples = fresh_exchange_samples(100'000);
    const Checks checks(Rule::lost_partner);
    try {
      end.transport.exchange_with_neighbours(around.exchange(4 * kib, 0), slots.buffers(),
                                             kernel::TimedExchanges{samples});
      ADD_FAILURE() << "an exchange without a neighbour came to its end";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::run_failed);
      // With more ranks it may be the next one, who has found out before.
      EXPECT_THAT(error.what(), testing::HasSubstr(end.size == 2 ? "rank 1" : "rank "));
    }
  });
}

}  // namespace
}  // namespace leadline::contract
