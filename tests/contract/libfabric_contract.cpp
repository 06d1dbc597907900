// SPDX-License-Identifier: Apache-2.0
// libfabric joins the contract suite, over shared memory and over TCP.
#include "contract/forked_ranks.hpp"
#include "contract/scarce_links.hpp"
#include "contract/transport_contract.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static LastingRanks two;
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

// A way costs its own socket and at most two of the library's.
TEST(LibfabricLinks, AreClosedAndOpenedAgainWhereFilesAreScarce) {
  expect_links_closed_and_opened_again("libfabric:tcp;ofi_rxm", 3);
}

TEST(LibfabricLinks, ThatCannotAllBeOpenAtOnceAreAnErrorOfTheExchangeWithAll) {
  expect_too_many_at_once_refused("libfabric:tcp;ofi_rxm", 3);
}

TEST(LibfabricModule, CannotSleep) {
  const auto module = transport::open_module("libfabric", cluster::Launcher::none);
  EXPECT_NE(module->refuses_wait(WaitMode::block), "");
}

}  // namespace leadline::contract
