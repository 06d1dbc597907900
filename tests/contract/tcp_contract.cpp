// SPDX-License-Identifier: Apache-2.0
// TCP joins the contract suite, and what only TCP promises.
#include <chrono>
#include <vector>

#include "contract/forked_ranks.hpp"
#include "contract/neighbourhood.hpp"
#include "contract/scarce_links.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract,
                         testing::ValuesIn(candidates("tcp", {WaitMode::block, WaitMode::yield, WaitMode::spin})),
                         candidate_name);
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

/// Rank 2 is gone: all that the others exchange arrives, barriers and all, and those that miss it say so at the end.
TEST(TcpLinks, AnExchangeGoesOnWithoutOneThatBreaks) {
  run_forked(4, [](ForkedRank& self) {
    const schedule::Topology complete({.name = "complete2", .shape = schedule::Shape::complete}, 4);
    const auto tcp = self.open("tcp", WaitMode::yield);
    ASSERT_TRUE(tcp->give_up_silent_links(std::chrono::seconds(5)));
    for (const std::int32_t partner : tournament(self.rank, self.size)) {
      tcp->connect(partner, Deadline::after(std::chrono::seconds(20)));
    }
    const Neighbourhood around(complete, self.rank);
    Slots slots(around, self.rank, 3000);
    std::vector<kernel::ExchangeSample> samples(2);
    const auto exchange = [&](const Neighbourhood& one) {
      tcp->exchange_with_neighbours(one.exchange(3000, 1), slots.buffers(), kernel::TimedExchanges{samples});
    };
    exchange(around);
    if (self.rank == 2) return;
    try {
      exchange(around);
      ADD_FAILURE() << "rank 2 is not there";
    } catch (const transport::LinksLost& lost) {
      ASSERT_EQ(lost.links().size(), 1u);
      EXPECT_EQ(lost.links().front().partner(), 2);
      tcp->drop_link(2);
    }
    for (std::size_t i = 0; i < around.channels().size(); ++i) {
      if (around.channels()[i].partner == 2) continue;
      EXPECT_TRUE(slots.has_message(i));
    }
  });
}

TEST(TcpModule, TakesOrdinaryMemoryOnly) {
  const auto module = transport::open_module("tcp", cluster::Launcher::none);
  EXPECT_EQ(module->refuses_memory(memory::Location::host), "");
  EXPECT_EQ(module->refuses_memory(memory::Location::gpu), "sockets take nothing but ordinary memory");
}

TEST(TcpModule, TakesNoArgument) {
  run_forked(1, [](ForkedRank& self) { EXPECT_THROW(self.open("tcp:fast", WaitMode::block), Error); });
}

}  // namespace leadline::contract
