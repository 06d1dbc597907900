// SPDX-License-Identifier: Apache-2.0
// InfiniBand verbs join the contract suite, over the first device that is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "contract/forked_ranks.hpp"
#include "contract/lost_links.hpp"
#include "contract/transport_contract.hpp"
#include "transport/module.hpp"

namespace leadline::contract {
namespace {

/// Why there is nothing to test with; empty where there is. Asked in the library's own words.
std::string why_no_device() {
  try {
    for (const transport::Fact& fact : transport::open_module("verbs")->facts()) {
      if (fact.name == "device" && fact.value.find(" active,") != std::string::npos) return "";
    }
    return "no InfiniBand or RoCE port is active";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Verbs, TransportContract,
                         testing::ValuesIn(candidates("verbs", {WaitMode::yield, WaitMode::spin, WaitMode::block})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Verbs, CallContract, testing::ValuesIn(pairs("verbs", {WaitMode::yield, WaitMode::block})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Verbs, AllToAllContract,
                         testing::ValuesIn(parties("verbs", {WaitMode::yield, WaitMode::block})), party_name);
INSTANTIATE_TEST_SUITE_P(Verbs, NeighbourContract,
                         testing::ValuesIn(parties("verbs", {WaitMode::yield, WaitMode::block}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(Verbs, MessagesContract,
                         testing::ValuesIn(parties("verbs", {WaitMode::yield, WaitMode::block}, 2)), party_name);

TEST(VerbsLinks, AnExchangeGoesOnWithoutOneThatBreaks) { expect_exchange_without_lost_link("verbs"); }

}  // namespace leadline::contract

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const std::string reason = leadline::contract::why_no_device(); !reason.empty()) {
    std::cout << "Skipped: " << reason << "\n";
    return 77;
  }
  return RUN_ALL_TESTS();
}
