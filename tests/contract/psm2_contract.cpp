// SPDX-License-Identifier: Apache-2.0
// PSM2 joins the contract suite, over its shared-memory device.
#include "contract/forked_ranks.hpp"
#include "contract/scarce_links.hpp"
#include "contract/transport_contract.hpp"
#include "transport/module.hpp"

namespace leadline::contract {
namespace {

class RanksWithOneEndpoint final : public ForkedRanks {
 public:
  bool may_lose_a_rank() const override { return false; }
  bool may_open_again() const override { return false; }
};

}  // namespace

Ranks& ranks() {
  static RanksWithOneEndpoint two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Psm2, TransportContract,
                         testing::ValuesIn(candidates("psm2", {WaitMode::yield, WaitMode::spin})), candidate_name);
INSTANTIATE_TEST_SUITE_P(Psm2, CallContract, testing::ValuesIn(pairs("psm2", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Psm2, AllToAllContract, testing::ValuesIn(parties("psm2", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Psm2, NeighbourContract, testing::ValuesIn(parties("psm2", {WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(Psm2, MessagesContract, testing::ValuesIn(parties("psm2", {WaitMode::yield}, 2)), party_name);

TEST(Psm2Links, StayOpenWhereFilesAreScarce) { expect_links_kept("psm2", 30); }

TEST(Psm2Module, CannotSleep) {
  const auto module = transport::open_module("psm2", cluster::Launcher::none);
  EXPECT_NE(module->refuses_wait(WaitMode::block), "");
}

}  // namespace leadline::contract
