// SPDX-License-Identifier: Apache-2.0
// libfabric joins the contract suite, over shared memory and over TCP.
#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Libfabric, TransportContract,
                         testing::ValuesIn(candidates("libfabric:shm", {WaitMode::yield, WaitMode::spin})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(LibfabricTcp, TransportContract,
                         testing::ValuesIn(candidates("libfabric:tcp;ofi_rxm", {WaitMode::yield})), candidate_name);
INSTANTIATE_TEST_SUITE_P(Libfabric, AllToAllContract, testing::ValuesIn(parties("libfabric:shm", {WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Libfabric, NeighbourContract,
                         testing::ValuesIn(parties("libfabric:shm", {WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(Libfabric, MessagesContract, testing::ValuesIn(parties("libfabric:shm", {WaitMode::yield}, 2)),
                         party_name);

}  // namespace leadline::contract
