// SPDX-License-Identifier: Apache-2.0
// Portals 4 joins the contract suite, over the library that it was built for or over a fake one.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {
namespace {

/// The program's own, or the file over the fake library.
std::string portals4() {
  const char* const file = std::getenv("LEADLINE_PORTALS4_TRANSPORT");
  return file != nullptr ? file : "portals4";
}

/// No implementation must notice that a process is gone.
class EnduringRanks final : public Ranks {
 public:
  void run(int size, const std::string& transport, WaitMode wait, const Body& body) override {
    forked_.run(size, transport, wait, body);
  }
  bool may_lose_a_rank() const override { return false; }
  bool may_open_again() const override { return false; }  // a process opens a network interface once

 private:
  ForkedRanks forked_;
};

}  // namespace

Ranks& ranks() {
  static EnduringRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Portals4, TransportContract, testing::ValuesIn(candidates(portals4(), {WaitMode::yield})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Portals4, CallContract, testing::ValuesIn(pairs(portals4(), {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Portals4, AllToAllContract, testing::ValuesIn(parties(portals4(), {WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Portals4, NeighbourContract, testing::ValuesIn(parties(portals4(), {WaitMode::yield}, 2)),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Portals4, MessagesContract, testing::ValuesIn(parties(portals4(), {WaitMode::yield}, 2)),
                         party_name);

namespace {

constexpr std::uint32_t num_messages = 60;

void send_all(End& end) {
  const std::int32_t partner = 0;
  const auto messages = end.transport.messages({&partner, 1}, num_messages);
  std::vector<std::uint32_t> numbers(num_messages);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (const std::uint32_t& number : numbers) messages->post_send(0, std::as_bytes(std::span(&number, 1)), number);
  for (std::uint32_t i = 0; i < num_messages; ++i) messages->await_any();
}

void receive_all_from(End& end, std::int32_t partner) {
  const auto messages = end.transport.messages({&partner, 1}, 1);
  for (std::uint32_t i = 0; i < num_messages; ++i) {
    std::uint32_t number = num_messages;
    messages->post_receive(partner, std::as_writable_bytes(std::span(&number, 1)), 0);
    messages->await_any();
    ASSERT_EQ(number, i) << "from rank " << partner;
  }
}

/// The last rank's messages are asked for first, so that those of the others fill all room that there is.
TEST(Portals4Messages, ThatFoundNoRoomComeLaterAndInOrder) {
  ranks().run(4, portals4(), WaitMode::yield, [](End& end) {
    for (const std::int32_t partner : tournament(end.rank, end.size)) {
      if (partner >= 0) end.transport.connect(partner, Deadline::after(std::chrono::seconds(20)));
    }
    if (end.rank > 0) return send_all(end);
    for (std::int32_t partner = 3; partner > 0; --partner) receive_all_from(end, partner);
  });
}

}  // namespace
}  // namespace leadline::contract
