// SPDX-License-Identifier: Apache-2.0
// Any transport joins the contract suite, by its name or its file: for those that have no program of their own here.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "contract/forked_ranks.hpp"
#include "contract/rules.hpp"
#include "contract/transport_contract.hpp"
#include "transport/module.hpp"
#include "transport/settings.hpp"
#include "transport/table.hpp"

namespace leadline::contract {
namespace {

constexpr const char* usage =
    "usage: contract_chosen TRANSPORT [--wait MODE] [--loss-unnoticed] [--gtest_OPTION...]\n"
    "       contract_chosen --rules\n\n"
    "TRANSPORT          as behind --transport: tcp, ./mine.so, ./mine.so:ARGUMENT\n"
    "--wait MODE        block, yield or spin; without it the first of yield and block that the transport has\n"
    "--loss-unnoticed   the transport does not notice that another rank is gone: these tests are skipped\n"
    "--gtest_OPTION     of GoogleTest; --gtest_fail_fast=0 goes on after a failure\n"
    "--rules            only says what is checked\n";

struct Choice {
  std::string transport;
  WaitMode wait = WaitMode::yield;
  bool notices_losses = true;
};
Choice choice;

class ChosenRanks final : public ForkedRanks {
 public:
  bool may_lose_a_rank() const override { return choice.notices_losses; }
};

bool choose_wait(const std::string& name) {
  for (const WaitMode mode : {WaitMode::yield, WaitMode::block, WaitMode::spin}) {
    if (name != name_of(mode)) continue;
    choice.wait = mode;
    return true;
  }
  return false;
}

/// Whether the command line is right.
bool choose(int argc, char** argv) {
  bool has_wait = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--loss-unnoticed") {
      choice.notices_losses = false;
    } else if (word == "--wait") {
      if (++i == argc || !choose_wait(argv[i])) return false;
      has_wait = true;
    } else if (!word.starts_with("-") && choice.transport.empty()) {
      choice.transport = word;
    } else {
      return false;
    }
  }
  if (choice.transport.empty()) return false;
  if (has_wait) return true;
  const auto module = transport::open_module(transport::parse_choice(choice.transport).name);
  choice.wait = module->refuses_wait(WaitMode::yield).empty() ? WaitMode::yield : WaitMode::block;
  return true;
}

}  // namespace

Ranks& ranks() {
  static ChosenRanks all;
  return all;
}

// These are filled in by InitGoogleTest(), when the command line is known.
INSTANTIATE_TEST_SUITE_P(Chosen, TransportContract, testing::ValuesIn(candidates(choice.transport, {choice.wait})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Chosen, CallContract, testing::ValuesIn(pairs(choice.transport, {choice.wait})), party_name);
INSTANTIATE_TEST_SUITE_P(Chosen, AllToAllContract, testing::ValuesIn(parties(choice.transport, {choice.wait})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Chosen, NeighbourContract, testing::ValuesIn(parties(choice.transport, {choice.wait}, 2)),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Chosen, MessagesContract, testing::ValuesIn(parties(choice.transport, {choice.wait}, 2)),
                         party_name);

}  // namespace leadline::contract

int main(int argc, char** argv) {
  using namespace leadline;
  if (argc == 2 && std::strcmp(argv[1], "--rules") == 0) {
    for (const contract::RuleText& rule : contract::rules()) std::printf("%s: %s\n", rule.name, rule.text);
    return 0;
  }
  std::vector<char*> own{argv[0]}, of_gtest{argv[0]};
  for (int i = 1; i < argc; ++i) (std::strncmp(argv[i], "--gtest_", 8) == 0 ? of_gtest : own).push_back(argv[i]);
  try {
    if (!contract::choose(static_cast<int>(own.size()), own.data())) {
      std::fputs(contract::usage, stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "contract_chosen: %s\n", error.what());
    return 3;
  }
  int num_of_gtest = static_cast<int>(of_gtest.size());
  of_gtest.push_back(nullptr);
  GTEST_FLAG_SET(fail_fast, true);  // what hangs in one test does so in many
  testing::InitGoogleTest(&num_of_gtest, of_gtest.data());
  return RUN_ALL_TESTS();
}
