// SPDX-License-Identifier: Apache-2.0
// What the collective operations of a transport's library must do, where it has some.
#include "transport/collectives.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "contract/contents.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {
namespace {

using transport::Collective;
using transport::CollectiveCall;

/// Small whole numbers, so that sums are exact.
float number_of(std::size_t rank, std::size_t index) { return static_cast<float>(10 * rank + index % 7); }

/// Of the whole of an allreduce's result or of that of reduce-scatter.
float sum_of(std::size_t num_ranks, std::size_t index) {
  float sum = 0;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) sum += number_of(rank, index);
  return sum;
}

float expected(Collective operation, std::size_t rank, std::size_t num_ranks, std::size_t num, std::size_t index) {
  switch (operation) {
    case Collective::allreduce:
      return sum_of(num_ranks, index);
    case Collective::reduce_scatter:
      return sum_of(num_ranks, rank * num + index);
    case Collective::allgather:
      return number_of(index / num, index % num);
    case Collective::alltoall:
      break;
  }
  return number_of(index / num, rank * num + index % num);
}

std::size_t num_sent(Collective operation, std::size_t num_ranks, std::size_t num) {
  const bool has_blocks = operation == Collective::reduce_scatter || operation == Collective::alltoall;
  return has_blocks ? num_ranks * num : num;
}

std::size_t num_received(Collective operation, std::size_t num_ranks, std::size_t num) {
  const bool has_blocks = operation == Collective::allgather || operation == Collective::alltoall;
  return has_blocks ? num_ranks * num : num;
}

void run_and_check(transport::Collectives& collectives, std::size_t rank, std::size_t num_ranks, std::size_t num,
                   std::uint64_t times) {
  for (const auto& [operation, name, meaning] : names_of(Collective{})) {
    std::vector<float> sent(num_sent(operation, num_ranks, num));
    for (std::size_t index = 0; index < sent.size(); ++index) sent[index] = number_of(rank, index);
    Bytes send(sent.size() * sizeof(float));
    const std::size_t num_in = num_received(operation, num_ranks, num);
    Bytes receive(num_in * sizeof(float), std::byte{0xff});
    send.write(0, std::as_bytes(std::span(sent)));
    collectives.run({operation, num, send.data(), receive.data()}, times);
    const auto bytes = receive.read(0, num_in * sizeof(float));
    std::vector<float> received(num_in);
    std::memcpy(received.data(), bytes.data(), bytes.size());
    std::size_t num_wrong = 0;
    for (std::size_t index = 0; index < num_in; ++index) {
      if (received[index] != expected(operation, rank, num_ranks, num, index)) ++num_wrong;
    }
    EXPECT_EQ(num_wrong, 0u) << name << " of " << num << " numbers";
  }
}

TEST_P(CollectivesContract, DoesEveryOperationAmongAllRanks) {
  on_all_ranks([](End& end) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(end.size));
    std::iota(all.begin(), all.end(), 0);
    const auto collectives = end.transport.collectives(all);
    ASSERT_NE(collectives, nullptr);
    const std::uint64_t before = end.progress_counter.count;
    for (const std::size_t num : {1u, 7u, 1000u, 300'000u}) {
      run_and_check(*collectives, static_cast<std::size_t>(end.rank), all.size(), num, num > 1000 ? 2 : 5);
    }
    EXPECT_GE(end.progress_counter.count, before + 16);
  });
}

TEST_P(CollectivesContract, DividesRanksIntoGroups) {
  on_all_ranks([](End& end) {
    // The last rank rests.
    std::vector<std::int32_t> group;
    if (end.rank < end.size - 1) {
      group.resize(static_cast<std::size_t>(end.size) - 1);
      std::iota(group.begin(), group.end(), 0);
    }
    for (int time = 0; time < 3; ++time) {
      const auto collectives = end.transport.collectives(group);
      ASSERT_EQ(collectives == nullptr, group.empty());
      if (collectives) run_and_check(*collectives, static_cast<std::size_t>(end.rank), group.size(), 100, 3);
    }
  });
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CollectivesContract);

}  // namespace leadline::contract
