// SPDX-License-Identifier: Apache-2.0
// Verified exchanges with many neighbours over channels that damage, lose or repeat messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "kernel/recording_neighbours.hpp"

namespace leadline::kernel::verify_neighbours_test {
namespace {

constexpr std::size_t size = 1000, stride = 1024;
constexpr std::uint32_t own_rank = 4;

// Three neighbours; with the last in two steps, as where all go one way first and then back.
constexpr std::array<NeighbourChannel, 4> channels{
    {{1, Part::both, 0}, {2, Part::answers, 1}, {7, Part::sends, 2}, {7, Part::receives, 2}}};
constexpr std::array<std::uint32_t, 2> step_ends{3, 4};
constexpr NeighbourExchange exchange{channels, step_ends, size, 0};

/// Brings what the neighbours would send, or what `damage` makes of it.
struct Neighbours {
  RecordingNeighbours links{channels};
  std::vector<std::byte> out = std::vector<std::byte>(3 * stride);
  std::vector<std::byte> in = std::vector<std::byte>(3 * stride);
  Contents contents{.fill = Fill::random, .seed = 9, .first_exchange = 100};
  std::vector<ExchangeSample> samples = std::vector<ExchangeSample>(5);
  ProgressCounter progress_counter;

  std::uint64_t exchange_under_way() const {
    const auto num_barriers = std::count(links.calls.begin(), links.calls.end(), 'B');
    return contents.first_exchange + static_cast<std::uint64_t>(num_barriers) / 2;
  }

  std::span<std::byte> slot(std::vector<std::byte>& all, std::uint32_t index) {
    return std::span(all).subspan(index * stride, size);
  }

  using Damage = std::function<void(std::int32_t from, std::uint64_t number, std::span<std::byte> message)>;

  std::optional<NeighbourMismatch> verify(const Damage& damage, std::uint64_t num_warmup = 0) {
    links.deliver = [&, damage](std::size_t i) {
      const auto from = static_cast<std::uint32_t>(channels[i].partner);
      std::vector<std::byte> message(size);
      memory::fill(message, contents.fill, {from, own_rank, exchange_under_way() - num_warmup, contents.seed});
      damage(channels[i].partner, exchange_under_way() - num_warmup, message);
      std::memcpy(slot(in, channels[i].slot).data(), message.data(), size);
    };
    NeighbourExchange with_warmup = exchange;
    with_warmup.num_warmup = num_warmup;
    return verify_neighbours(links, with_warmup, own_rank, {out.data(), in.data(), stride}, contents, samples,
                             progress_counter);
  }
};

void no_damage(std::int32_t, std::uint64_t, std::span<std::byte>) {}

TEST(VerifyNeighbours, FindsNothingWhereNothingIsWrongAndTimesEveryExchange) {
  for (const Fill fill : {Fill::zero, Fill::ramp, Fill::random, Fill::mersenne}) {
    Neighbours neighbours;
    neighbours.contents.fill = fill;
    EXPECT_FALSE(neighbours.verify(no_damage));
    for (const ExchangeSample& sample : neighbours.samples) {
      EXPECT_EQ(sample.own_ns, 1u);
      EXPECT_EQ(sample.with_barrier_ns, 2u);
    }
    EXPECT_EQ(neighbours.progress_counter.count, 5u);
  }
}

TEST(VerifyNeighbours, WarmsUpBeforeItFills) {
  Neighbours neighbours;
  EXPECT_FALSE(neighbours.verify(no_damage, 2));
  EXPECT_EQ(neighbours.progress_counter.count, 7u);
}

TEST(VerifyNeighbours, SendsContentsOfItsOwnToEachInEveryExchange) {
  Neighbours neighbours;
  EXPECT_FALSE(neighbours.verify(no_damage));
  for (const auto& [partner, slot] : {std::pair(1u, 0u), std::pair(2u, 1u), std::pair(7u, 2u)}) {
    EXPECT_FALSE(
        memory::first_wrong_byte(neighbours.slot(neighbours.out, slot), Fill::random, {own_rank, partner, 104, 9}))
        << "to rank " << partner;
  }
}

TEST(VerifyNeighbours, SaysWhoseByteOfWhichExchangeIsWrongFirstAndGoesOn) {
  Neighbours neighbours;
  const auto mismatch = neighbours.verify([](std::int32_t from, std::uint64_t number, std::span<std::byte> message) {
    if (from == 7 && number >= 102) message[700 - (number - 100)] ^= std::byte{0x10};
    if (from == 7 && number >= 102) message[900] ^= std::byte{0x10};
    if (from == 1 && number >= 103) message[0] ^= std::byte{0x10};
  });
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->from, 7);
  EXPECT_EQ(mismatch->exchange, 102u);
  EXPECT_EQ(mismatch->byte, 698u);
  EXPECT_EQ(mismatch->expected ^ mismatch->found, 0x10);
  EXPECT_EQ(neighbours.exchange_under_way(), 105u) << "all ranks must stay in step";
}

TEST(VerifyNeighbours, NoticesAMessageThatNeverCame) {
  for (const Fill fill : {Fill::zero, Fill::ramp, Fill::random, Fill::mersenne}) {
    Neighbours neighbours;
    neighbours.contents.fill = fill;
    const auto mismatch = neighbours.verify([&](std::int32_t from, std::uint64_t number, std::span<std::byte> message) {
      if (from == 2 && number == 101) std::memcpy(message.data(), neighbours.slot(neighbours.in, 1).data(), size);
    });
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->from, 2);
    EXPECT_EQ(mismatch->exchange, 101u);
  }
}

TEST(VerifyNeighbours, NoticesTheMessageOfAnotherExchangeOrRank) {
  for (const Fill fill : {Fill::ramp, Fill::random, Fill::mersenne}) {
    Neighbours neighbours;
    neighbours.contents.fill = fill;
    const auto late = neighbours.verify([&](std::int32_t from, std::uint64_t number, std::span<std::byte> message) {
      if (from == 1 && number == 103) memory::fill(message, fill, {1, own_rank, 102, 9});
    });
    ASSERT_TRUE(late);
    EXPECT_EQ(late->exchange, 103u);
    Neighbours others;
    others.contents.fill = fill;
    const auto astray = others.verify([&](std::int32_t from, std::uint64_t number, std::span<std::byte> message) {
      if (from == 2) memory::fill(message, fill, {1, own_rank, number, 9});
    });
    ASSERT_TRUE(astray);
    EXPECT_EQ(astray->from, 2);
  }
}

}  // namespace
}  // namespace leadline::kernel::verify_neighbours_test
