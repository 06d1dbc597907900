// SPDX-License-Identifier: Apache-2.0
// UCX joins the contract suite, over shared memory and over TCP.
#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Ucx, TransportContract,
                         testing::ValuesIn(candidates("ucx:posix,self", {WaitMode::yield, WaitMode::spin})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(UcxTcp, TransportContract, testing::ValuesIn(candidates("ucx:tcp,self", {WaitMode::yield})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Ucx, AllToAllContract, testing::ValuesIn(parties("ucx:posix,self", {WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Ucx, NeighbourContract, testing::ValuesIn(parties("ucx:posix,self", {WaitMode::yield}, 2)),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Ucx, MessagesContract, testing::ValuesIn(parties("ucx:posix,self", {WaitMode::yield}, 2)),
                         party_name);

}  // namespace leadline::contract
