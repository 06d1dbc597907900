// SPDX-License-Identifier: Apache-2.0
// An exchange of four ranks that one of them does not take part in.
#include "contract/lost_links.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "contract/forked_ranks.hpp"
#include "contract/neighbourhood.hpp"
#include "contract/transport_contract.hpp"
#include "kernel/exchange.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"

namespace leadline::contract {

void expect_exchange_without_lost_link(const std::string& transport) {
  run_forked(4, [&](ForkedRank& self) {
    constexpr std::int32_t lost_rank = 2;
    const schedule::Topology complete({.name = "complete2", .shape = schedule::Shape::complete}, 4);
    const auto opened = self.open(transport, WaitMode::yield);
    ASSERT_TRUE(opened->give_up_silent_links(std::chrono::seconds(5)));
    for (const std::int32_t partner : tournament(self.rank, self.size)) {
      opened->connect(partner, Deadline::after(std::chrono::seconds(20)));
    }
    const Neighbourhood around(complete, self.rank);
    Slots slots(around, self.rank, 3000);
    std::vector<kernel::ExchangeSample> samples(2);
    const auto exchange = [&] {
      opened->exchange_with_neighbours(around.exchange(3000, 1), slots.buffers(), kernel::TimedExchanges{samples});
    };
    exchange();
    if (self.rank == lost_rank) return;
    try {
      exchange();
      ADD_FAILURE() << "rank 2 is not there";
    } catch (const transport::LinksLost& lost) {
      ASSERT_EQ(lost.links().size(), 1u);
      EXPECT_EQ(lost.links().front().partner(), lost_rank);
      opened->drop_link(lost_rank);
    }
    for (std::size_t i = 0; i < around.channels().size(); ++i) {
      if (around.channels()[i].partner == lost_rank) continue;
      EXPECT_TRUE(slots.has_message(i));
    }
    for (const std::int32_t partner : tournament(self.rank, self.size)) {
      if (partner == lost_rank) continue;
      opened->connect(partner, Deadline::after(std::chrono::seconds(20)));
      const kernel::Exchange verified{.role = self.rank < partner ? kernel::Role::lead : kernel::Role::follow,
                                      .message_size_bytes = 3000,
                                      .num_messages = 5};
      std::vector<std::byte> out(3000), in(3000);
      EXPECT_FALSE(opened->verify(verified, partner, {out.data(), in.data()}, Fill::random));
    }
  });
}

}  // namespace leadline::contract
