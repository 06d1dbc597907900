// SPDX-License-Identifier: Apache-2.0
// Sizes and bandwidths as nccl-tests define them, and contents that tell what is wrong.
#include "bench/collective/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bench/collective/contents.hpp"

namespace leadline::bench::collective {
namespace {

TEST(CollectiveSizes, AreThoseOfTheLargerBuffer) {
  EXPECT_EQ(num_elements(Operation::allreduce, 1000, 4), 250u);
  EXPECT_EQ(num_elements(Operation::allgather, 1000, 4), 62u) << "whole numbers, rounded down";
  EXPECT_EQ(num_elements(Operation::reduce_scatter, 1024, 4), 64u);
  EXPECT_EQ(num_elements(Operation::alltoall, 4, 16), 1u) << "at least one";
}

TEST(CollectiveBandwidths, AreThoseOfNcclTests) {
  const auto of = [](Operation operation) { return bandwidths_of({operation, 0, 4096}, 4, 1000); };
  for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::alltoall}) {
    EXPECT_DOUBLE_EQ(of(operation).algorithm_bytes_per_s, 4.096e9);
  }
  EXPECT_DOUBLE_EQ(of(Operation::allreduce).bus_bytes_per_s, 4.096e9 * 1.5);
  EXPECT_DOUBLE_EQ(of(Operation::allgather).bus_bytes_per_s, 4.096e9 * 0.75);
  EXPECT_DOUBLE_EQ(of(Operation::reduce_scatter).bus_bytes_per_s, 4.096e9 * 0.75);
  EXPECT_DOUBLE_EQ(of(Operation::alltoall).bus_bytes_per_s, 4.096e9 * 0.75);
  // What is not sent does not count.
  EXPECT_DOUBLE_EQ(bandwidths_of({Operation::allgather, 0, 1000}, 4, 1000).algorithm_bytes_per_s, 992e6);
}

/// What a rank receives, by the definition of each operation.
std::vector<float> received(Operation operation, std::size_t place, std::size_t num_ranks, std::size_t num) {
  std::vector<std::vector<float>> sent;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    const Share share{operation, rank, num_ranks, num};
    fill(share, sent.emplace_back(share.num_sent()));
  }
  std::vector<float> numbers(Share{operation, place, num_ranks, num}.num_received());
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    const std::size_t block = place * num;
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      if (operation == Operation::allreduce) numbers[index] += sent[rank][index];
      if (operation == Operation::reduce_scatter) numbers[index] += sent[rank][block + index];
    }
    if (operation == Operation::allgather) numbers[index] = sent[index / num][index % num];
    if (operation == Operation::alltoall) numbers[index] = sent[index / num][block + index % num];
  }
  return numbers;
}

TEST(CollectiveContents, AreRightByTheDefinitionOfEachOperation) {
  for (const auto& [operation, name, meaning] : names_of(Operation{})) {
    for (std::size_t num_ranks = 2; num_ranks < 18; ++num_ranks) {
      for (std::size_t place = 0; place < num_ranks; ++place) {
        const Share share{operation, place, num_ranks, 70};
        EXPECT_FALSE(first_wrong(share, received(operation, place, num_ranks, 70))) << name << " " << num_ranks;
      }
    }
  }
}

TEST(CollectiveContents, TellTheFirstThatIsWrong) {
  for (const auto& [operation, name, meaning] : names_of(Operation{})) {
    const Share share{operation, 1, 3, 10};
    auto numbers = received(operation, 1, 3, 10);
    const float right = numbers[7];
    numbers[7] += 1;
    numbers[9] = 0.5F;
    const auto wrong = first_wrong(share, numbers);
    ASSERT_TRUE(wrong) << name;
    EXPECT_EQ(wrong->index, 7u);
    EXPECT_EQ(wrong->expected, right);
    EXPECT_EQ(wrong->found, right + 1);
  }
}

TEST(CollectiveContents, TellTheBlockOfAnotherRank) {
  for (const Operation operation : {Operation::allgather, Operation::alltoall}) {
    auto numbers = received(operation, 0, 3, 10);
    std::swap_ranges(numbers.begin(), numbers.begin() + 10, numbers.begin() + 10);
    EXPECT_TRUE(first_wrong({operation, 0, 3, 10}, numbers));
  }
}

}  // namespace
}  // namespace leadline::bench::collective
