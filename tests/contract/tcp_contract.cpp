// SPDX-License-Identifier: Apache-2.0
// TCP joins the contract suite, and what only TCP promises.
#include <chrono>

#include "contract/forked_ranks.hpp"
#include "contract/lost_links.hpp"
#include "contract/scarce_links.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract,
                         testing::ValuesIn(candidates("tcp", {WaitMode::block, WaitMode::yield, WaitMode::spin})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Tcp, CallContract, testing::ValuesIn(pairs("tcp", {WaitMode::block, WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Tcp, AllToAllContract,
                         testing::ValuesIn(parties("tcp", {WaitMode::block, WaitMode::yield, WaitMode::spin})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Tcp, NeighbourContract,
                         testing::ValuesIn(parties("tcp", {WaitMode::block, WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(TcpSpinning, NeighbourContract, testing::Values(Party{"tcp", WaitMode::spin, 2}), party_name);

INSTANTIATE_TEST_SUITE_P(Tcp, MessagesContract,
                         testing::ValuesIn(parties("tcp", {WaitMode::block, WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(TcpSpinning, MessagesContract, testing::Values(Party{"tcp", WaitMode::spin, 2}), party_name);

TEST(TcpLinks, AreClosedAndOpenedAgainWhereFilesAreScarce) { expect_links_closed_and_opened_again("tcp", 1); }

TEST(TcpLinks, ThatCannotAllBeOpenAtOnceAreAnErrorOfTheExchangeWithAll) { expect_too_many_at_once_refused("tcp", 1); }

TEST(TcpLinks, APartnerThatDoesNotComeIsAnErrorInTime) {
  run_forked(2, [](ForkedRank& self) {
    if (self.rank == 1) return;
    const auto tcp = self.open("tcp", WaitMode::block);
    EXPECT_THROW(tcp->connect(1, Deadline::after(std::chrono::milliseconds(20))), Error);
  });
}

TEST(TcpLinks, AnExchangeGoesOnWithoutOneThatBreaks) { expect_exchange_without_lost_link("tcp"); }

TEST(TcpModule, TakesOrdinaryMemoryOnly) {
  const auto module = transport::open_module("tcp", cluster::Launcher::none);
  EXPECT_EQ(module->refuses_memory(memory::Location::host), "");
  EXPECT_EQ(module->refuses_memory(memory::Location::gpu), "sockets take nothing but ordinary memory");
}

TEST(TcpModule, TakesNoArgument) {
  run_forked(1, [](ForkedRank& self) { EXPECT_THROW(self.open("tcp:fast", WaitMode::block), Error); });
}

}  // namespace leadline::contract
