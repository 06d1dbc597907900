// SPDX-License-Identifier: Apache-2.0
// UCX joins the contract suite, over two kinds of shared memory and over TCP.
#include "contract/forked_ranks.hpp"
#include "contract/scarce_links.hpp"
#include "contract/transport_contract.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static LastingRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Ucx, TransportContract,
                         testing::ValuesIn(candidates("ucx:posix,self", {WaitMode::yield, WaitMode::spin})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(UcxSystemV, TransportContract,
                         testing::ValuesIn(candidates("ucx:sysv,self", {WaitMode::yield})), candidate_name);
INSTANTIATE_TEST_SUITE_P(UcxTcp, TransportContract, testing::ValuesIn(candidates("ucx:tcp,self", {WaitMode::yield})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Ucx, CallContract, testing::ValuesIn(pairs("ucx:posix,self", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(UcxTcp, CallContract, testing::ValuesIn(pairs("ucx:tcp,self", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Ucx, AllToAllContract, testing::ValuesIn(parties("ucx:posix,self", {WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Ucx, NeighbourContract, testing::ValuesIn(parties("ucx:posix,self", {WaitMode::yield}, 2)),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Ucx, MessagesContract, testing::ValuesIn(parties("ucx:posix,self", {WaitMode::yield}, 2)),
                         party_name);

// A way costs its own socket and at most two of the library's.
TEST(UcxLinks, AreClosedAndOpenedAgainWhereFilesAreScarce) { expect_links_closed_and_opened_again("ucx:tcp,self", 3); }

TEST(UcxLinks, ThroughSharedMemoryAreClosedAndOpenedAgainAsWell) {
  expect_links_closed_and_opened_again("ucx:posix,self", 3);
}

TEST(UcxLinks, ThatCannotAllBeOpenAtOnceAreAnErrorOfTheExchangeWithAll) {
  expect_too_many_at_once_refused("ucx:tcp,self", 3);
}

TEST(UcxModule, CannotSleep) {
  const auto module = transport::open_module("ucx", cluster::Launcher::none);
  EXPECT_NE(module->refuses_wait(WaitMode::block), "");
}

}  // namespace leadline::contract
