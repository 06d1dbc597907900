// SPDX-License-Identifier: Apache-2.0
// PSM2 joins the contract suite, over its shared-memory device.
#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Psm2, TransportContract,
                         testing::ValuesIn(candidates("psm2", {WaitMode::yield, WaitMode::spin})), candidate_name);
INSTANTIATE_TEST_SUITE_P(Psm2, AllToAllContract, testing::ValuesIn(parties("psm2", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Psm2, NeighbourContract, testing::ValuesIn(parties("psm2", {WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(Psm2, MessagesContract, testing::ValuesIn(parties("psm2", {WaitMode::yield}, 2)), party_name);

}  // namespace leadline::contract
