// SPDX-License-Identifier: Apache-2.0
// Portals 4 joins the contract suite, over whichever library its module was built with.
#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {
namespace {

/// No implementation must notice that a process is gone.
class EnduringRanks final : public Ranks {
 public:
  void run(int size, const std::string& transport, WaitMode wait, const Body& body) override {
    forked_.run(size, transport, wait, body);
  }
  bool may_lose_a_rank() const override { return false; }

 private:
  ForkedRanks forked_;
};

}  // namespace

Ranks& ranks() {
  static EnduringRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Portals4, TransportContract, testing::ValuesIn(candidates("portals4", {WaitMode::yield})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Portals4, AllToAllContract, testing::ValuesIn(parties("portals4", {WaitMode::yield})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Portals4, NeighbourContract, testing::ValuesIn(parties("portals4", {WaitMode::yield}, 2)),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Portals4, MessagesContract, testing::ValuesIn(parties("portals4", {WaitMode::yield}, 2)),
                         party_name);

}  // namespace leadline::contract
