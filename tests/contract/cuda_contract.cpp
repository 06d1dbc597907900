// SPDX-License-Identifier: Apache-2.0
// Copies between GPUs join the contract suite.
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

INSTANTIATE_TEST_SUITE_P(Cuda, TransportContract,
                         testing::ValuesIn(candidates("cuda", {WaitMode::yield, WaitMode::spin})), candidate_name);
INSTANTIATE_TEST_SUITE_P(Cuda, CallContract, testing::ValuesIn(pairs("cuda", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Cuda, AllToAllContract, testing::ValuesIn(parties("cuda", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Cuda, NeighbourContract, testing::ValuesIn(parties("cuda", {WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(Cuda, MessagesContract, testing::ValuesIn(parties("cuda", {WaitMode::yield}, 2)), party_name);

TEST(CudaModule, SaysWhatItCannotDo) { expect_gpu_memory_alone("cuda"); }

TEST(CudaModule, ReachesNoOtherHost) {
  const auto on_two_hosts = [](ForkedRank& self) {
    self.host_of = {0, 1};
    try {
      self.open("cuda", WaitMode::yield);
      ADD_FAILURE() << "opened over two hosts";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
    }
  };
  run_forked(2, on_two_hosts, Caller::waits);
}

TEST(CudaWays, TakeManyBuffersOneAfterTheOther) {
  ranks().run(2, "cuda", WaitMode::yield, [](End& end) {
    end.transport.connect(end.partner, soon());
    for (int i = 0; i < 40; ++i) {
      Memory memory(100);
      memory.send.fill(Fill::random, key_from(end.rank + i));
      auto samples = fresh_samples(1);
      const auto role = end.is_first() ? kernel::Role::lead : kernel::Role::follow;
      end.transport.run({.role = role, .message_size_bytes = 100, .num_messages = 2}, end.partner, memory.buffers(),
                        samples);
      EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(end.partner + i))) << "buffer " << i;
    }
  });
}

TEST(CudaWays, HoldMoreReceivesThanTheirMailboxes) {
  ranks().run(2, "cuda", WaitMode::yield, [](End& end) {
    end.transport.connect(end.partner, soon());
    Memory memory(1000);
    memory.send.fill(Fill::random, key_from(end.rank));
    auto samples = fresh_samples(1);
    const kernel::Exchange exchange{
        .direction = Direction::bidirectional, .message_size_bytes = 1000, .num_messages = 500, .window = 300};
    end.transport.run(exchange, end.partner, memory.buffers(), samples);
    EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(end.partner)));
  });
}

}  // namespace leadline::contract
