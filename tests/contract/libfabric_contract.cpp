// SPDX-License-Identifier: Apache-2.0
// libfabric joins the contract suite, over shared memory and over TCP.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "contract/forked_ranks.hpp"
#include "contract/scarce_links.hpp"
#include "contract/transport_contract.hpp"
#include "core/deadline.hpp"
#include "transport/messages.hpp"
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
INSTANTIATE_TEST_SUITE_P(Libfabric, CallContract, testing::ValuesIn(pairs("libfabric:shm", {WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(LibfabricTcp, CallContract,
                         testing::ValuesIn(pairs("libfabric:tcp;ofi_rxm", {WaitMode::yield})), party_name);
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

/// As in a funnel: the sender begins when all receives are posted.
TEST(LibfabricMessages, MayBeMoreThanItsQueuesTake) {
  run_forked(
      2,
      [](ForkedRank& self) {
        using Ticket = transport::Messages::Ticket;
        constexpr Ticket num = 5'000;
        constexpr std::size_t size_bytes = 1000;
        const std::int32_t partner = 1 - self.rank;
        const Deadline deadline = Deadline::after(std::chrono::seconds(60));
        const auto opened = self.open("libfabric:tcp;ofi_rxm", WaitMode::yield);
        opened->connect(partner, deadline);
        const auto messages = opened->messages(std::array{partner}, num + 1);
        std::vector<std::byte> bytes(num * size_bytes), go(1);
        const auto one = [&](Ticket ticket) { return std::span(bytes).subspan(ticket * size_bytes, size_bytes); };
        std::size_t num_done = 0;
        const auto await = [&](std::size_t num_awaited) {
          while (num_done < num_awaited && !deadline.has_passed()) num_done += messages->poll() ? 1 : 0;
          ASSERT_EQ(num_done, num_awaited);
        };
        if (self.rank == 0) {
          for (Ticket ticket = 0; ticket < num; ++ticket) messages->post_receive(partner, one(ticket), ticket);
          messages->post_send(partner, go, num);
          await(num + 1);
          messages->post_send(partner, go, num);
          await(num + 2);
          for (Ticket ticket = 0; ticket < num; ++ticket) {
            ASSERT_EQ(std::ranges::count(one(ticket), static_cast<std::byte>(ticket % 251)),
                      std::ptrdiff_t{size_bytes});
          }
        } else {
          messages->post_receive(partner, go, num);
          await(1);
          for (Ticket ticket = 0; ticket < num; ++ticket) {
            std::ranges::fill(one(ticket), static_cast<std::byte>(ticket % 251));
            messages->post_send(partner, one(ticket), ticket);
          }
          messages->post_receive(partner, go, num);
          await(num + 2);
        }
      },
      Caller::waits);
}

TEST(LibfabricModule, CannotSleep) {
  const auto module = transport::open_module("libfabric", cluster::Launcher::none);
  EXPECT_NE(module->refuses_wait(WaitMode::block), "");
}

}  // namespace leadline::contract
