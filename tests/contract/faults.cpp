// SPDX-License-Identifier: Apache-2.0
// Shows that the contract suite notices each kind of fault and names the rule, and that the guide has the same rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <ostream>
#include <set>
#include <string>

#include "contract/rules.hpp"
#include "support/folder.hpp"

namespace leadline::contract {
namespace {

using testing::HasSubstr;

struct Outcome {
  int status = -1;
  std::string text;  ///< of both streams
};

/// The suite over a transport; `environment` stands before the command.
Outcome suite_over(const std::string& transport, const std::string& filter, const std::string& environment = "") {
  const std::string command =
      environment + " '" + CONTRACT_CHOSEN + "' '" + transport + "' --gtest_filter='" + filter + "' 2>&1";
  Outcome outcome;
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) return outcome;
  std::array<char, 4096> part;
  while (const std::size_t num = std::fread(part.data(), 1, part.size(), output)) {
    outcome.text.append(part.data(), num);
  }
  const int status = ::pclose(output);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

/// A fault, a test that shows it, and the rule that the suite must name.
struct Planted {
  const char* fault;
  const char* test;
  const char* rule;
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.fault << " in " << planted.test; }

constexpr Planted all_planted[] = {
    {"flush-without-deadline", "*CallContract.ConnectingEndsByItsDeadlineWithAPartner*", "deadline"},
    {"open-blocks", "*CallContract.ConnectingEndsByItsDeadlineWithAPartner*", "deadline"},
    {"open-never-returns", "*CallContract.ConnectingEndsByItsDeadlineWithAPartner*", "deadline"},
    {"progress-waits", "*CallContract.ConnectingEndsByItsDeadlineWithoutAPartner*", "deadline"},
    {"opens-again", "*ConnectingAgainChangesNothing*semidirectional", "open once"},
    {"send-never-done", "*AsManyBatches*bidirectional", "completion"},
    {"receive-never-done", "*AsManyBatches*bidirectional", "completion"},
    {"post-waits", "*PostingAndPolling*_2", "posting"},
    {"reordered", "*OfAPairArriveInOrder*_2", "order"},
    {"twice", "*TakesSeveralBuffers*bidirectional", "order"},
    {"last-byte-wrong", "*AroundPowersOfTwo*", "last byte"},
    {"receive-done-too-early", "*AroundPowersOfTwo*", "last byte"},
    {"byte-behind-the-end", "*TakesSeveralBuffers*bidirectional", "length"},
    {"wrong-receiver", "*OfOneSenderReachSeveral*_3", "receiver"},
    {"empty-lost", "*TimesMessages*semidirectional", "empty message"},
    {"token-needs-receive", "*BarriersNeedNoPostedReceive*", "token"},
    {"post-waits", "*GoBothWaysAtOnce*_2", "both ways"},
    {"to-itself-lost", "*LoopsToItself*bidirectional", "to itself"},
    {"send-done-too-early", "*ASendThatIsDone*_2", "free buffer"},
    {"wrong-ticket", "*PollSaysNothing*_2", "ticket"},
    {"sent-at-next-post", "*WhatWasSentArrives*_2", "progress"},
    {"no-barrier", "*NobodyLeavesABarrier*", "barrier"},
    {"samples-without-surplus", "*TimesMessages*semidirectional", "samples"},
    {"counter-stands-still", "*BeatsThePulse*semidirectional", "progress counter"},
    {"loss-unnoticed", "*TransportContract.APartnerThatVanishes*bidirectional", "lost partner"},
    {"never-closed", "*TheEndOfATransport*", "closing"},
    {"wrong-name", "*SaysWhatItIs*semidirectional", "description"},
};

class Faults : public testing::TestWithParam<Planted> {};

TEST_P(Faults, BreakTheRuleThatTheSuiteNames) {
  const Planted& planted = GetParam();
  const Outcome outcome =
      suite_over(std::string(FAULTY_TRANSPORT) + ":" + planted.fault, planted.test, "LEADLINE_CONTRACT_SECONDS=5");
  EXPECT_EQ(outcome.status, 1) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(std::string("rule \"") + planted.rule + "\" is broken: rank "));
}

/// The same tests succeed over the transport that the faults are planted in, so it is the fault that they show.
TEST_P(Faults, AreNotInTheTransportWithoutThem) {
  const Outcome outcome = suite_over(EXAMPLE_TRANSPORT, GetParam().test);
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("[  PASSED  ] 1 test."));
}

std::string planted_name(const testing::TestParamInfo<Planted>& info) {
  std::string name = std::string(info.param.fault) + "_" + info.param.rule;
  for (char& letter : name) {
    if (letter == '-' || letter == ' ') letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(all_planted), planted_name);

TEST(Rules, AreEachBrokenByAFault) {
  std::set<std::string> broken, all;
  for (const Planted& planted : all_planted) broken.insert(planted.rule);
  for (const RuleText& rule : rules()) all.insert(rule.name);
  EXPECT_EQ(broken, all);
}

/// The table has a line "| name | text |" for each, in the same order.
TEST(Rules, AreThoseOfTheGuide) {
  const std::string guide = test::contents_of(GUIDE);
  const std::string head = "| rule | what it says |\n|---|---|\n";
  const std::size_t begin = guide.find(head);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t first = begin + head.size();
  std::string table;
  for (const RuleText& rule : rules()) table += std::string("| ") + rule.name + " | " + rule.text + " |\n";
  EXPECT_EQ(guide.substr(first, guide.find("\n\n", first) + 1 - first), table);
}

TEST(Suite, SaysWhatIsWrongWithItsCommandLine) {
  EXPECT_EQ(suite_over("./no-such-file.so", "*").status, 3);
  EXPECT_EQ(suite_over("--no-such-option", "*").status, 2);
}

}  // namespace
}  // namespace leadline::contract
