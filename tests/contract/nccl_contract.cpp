// SPDX-License-Identifier: Apache-2.0
// NCCL joins the contract suite, but for messages one by one, which it does not have.
#include <gmock/gmock.h>

#include "contract/contents.hpp"
#include "contract/gpu_ranks.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static GpuRanks all;
  return all;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MessagesContract);

INSTANTIATE_TEST_SUITE_P(Nccl, TransportContract,
                         testing::ValuesIn(candidates("nccl", {WaitMode::yield, WaitMode::spin})), candidate_name);
INSTANTIATE_TEST_SUITE_P(Nccl, CallContract, testing::ValuesIn(pairs("nccl", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Nccl, AllToAllContract, testing::ValuesIn(parties("nccl", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Nccl, NeighbourContract, testing::ValuesIn(parties("nccl", {WaitMode::yield}, 2)), party_name);

INSTANTIATE_TEST_SUITE_P(Nccl, CollectivesContract, testing::ValuesIn(parties("nccl", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(NcclSpinning, CollectivesContract, testing::Values(Party{"nccl", WaitMode::spin, 2}),
                         party_name);

TEST(NcclModule, SaysWhatItCannotDo) { expect_gpu_memory_alone("nccl"); }

TEST(NcclModule, HasNoMessagesOneByOne) {
  ranks().run(2, "nccl", WaitMode::yield, [](End& end) {
    const std::int32_t partner = end.partner;
    EXPECT_THROW(end.transport.messages({&partner, 1}, 1), Error);
  });
}

TEST(NcclModule, SaysThatRanksShareAGpu) {
  const auto on_one_gpu = [](ForkedRank& self) {
    ::setenv(memory::cuda::local_rank_variable, "0", 1);
    try {
      self.open("nccl", WaitMode::yield);
      ADD_FAILURE() << "two ranks share a GPU";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
      EXPECT_THAT(error.why(), testing::HasSubstr("Duplicate GPU"));
      EXPECT_THAT(error.hint(), testing::HasSubstr("a GPU of its own"));
    }
  };
  run_forked(2, on_one_gpu, Caller::waits);
}

}  // namespace leadline::contract
