// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`: defaults, values, and combinations in which an option would be ignored.
#include "cli/link_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace leadline::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LinkRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "link"});
  return parse_link(words);
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << testing::PrintToString(words);
  return {};
}

TEST(LinkOptions, HaveDefaultsThatMeasureLatency) {
  const LinkRequest request = parse({});
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024));
  EXPECT_EQ(request.num_messages, 100u);
  EXPECT_EQ(request.direction, Direction::semidirectional);
  EXPECT_EQ(request.retest_slowest, 10);
  EXPECT_EQ(request.wait, WaitMode::automatic);
  EXPECT_EQ(request.format, ResultFormat::hdf5);
}

TEST(LinkOptions, SetTheirMember) {
  const LinkRequest request =
      parse({"--message-size", "1B-4B", "--direction", "bidirectional", "--window=8", "--wait", "yield", "--verify",
             "--shuffle-rounds", "--seed", "7", "--repeat", "3", "--output", "x.json", "--rounds", "2,1"});
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1, 2, 4));
  EXPECT_EQ(request.direction, Direction::bidirectional);
  EXPECT_EQ(request.window, 8u);
  EXPECT_EQ(request.wait, WaitMode::yield);
  EXPECT_TRUE(request.verify);
  EXPECT_EQ(request.seed, 7u);
  EXPECT_EQ(request.repeat, 3);
  EXPECT_EQ(request.format, ResultFormat::json);
  EXPECT_THAT(request.rounds, ElementsAre(2, 1));
}

TEST(LinkOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"--mesages", "5"}), HasSubstr("--mesages"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("stray"));
  EXPECT_THAT(refusal({"--messages"}), HasSubstr("--messages"));
  EXPECT_THAT(refusal({"--direction", "sideways"}), HasSubstr("semidirectional, unidirectional, bidirectional"));
  EXPECT_THAT(refusal({"--allocator", "heap"}), HasSubstr("aligned"));
  EXPECT_THAT(refusal({"--message-size", "-5"}), HasSubstr("-5"));
  EXPECT_THAT(refusal({"--message-size", "2TiB"}), HasSubstr("1 TiB"));
  EXPECT_THAT(refusal({"--format", "xml"}), HasSubstr("hdf5, json, none"));
}

TEST(LinkOptions, RefuseToBeGivenTwice) {
  EXPECT_THAT(refusal({"--direction", "unidirectional", "--direction", "bidirectional"}), HasSubstr("--direction"));
  EXPECT_THAT(refusal({"--messages", "1", "--messages", "2"}), HasSubstr("--messages"));
  EXPECT_THAT(refusal({"--serial", "--serial"}), HasSubstr("--serial"));
}

TEST(LinkOptions, RefuseCombinationsInWhichOneIsIgnored) {
  EXPECT_THAT(refusal({"--window", "4"}), HasSubstr("--window has no effect"));
  EXPECT_THAT(refusal({"--seed", "4"}), HasSubstr("--seed has no effect"));
  EXPECT_THAT(refusal({"--ranks", "4"}), HasSubstr("--ranks has no effect"));
  EXPECT_THAT(refusal({"--dry-run", "--ranks", "4", "--local", "4"}), HasSubstr("--local has no effect"));
  EXPECT_THAT(refusal({"--dry-run", "--output", "x.h5"}), HasSubstr("--dry-run writes no result"));
  EXPECT_THAT(refusal({"--overwrite"}), HasSubstr("--overwrite has no effect"));
  EXPECT_THAT(refusal({"--format", "none", "--output", "x.h5"}), HasSubstr("--format none leaves nothing to write"));
  EXPECT_THAT(refusal({"--batches", "200"}), HasSubstr("more than --messages 100"));
}

TEST(LinkOptions, ExplainThemselves) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const HelpWanted& wanted) {
    for (const char* option : {"--transport",     "--local",     "--message-size", "--messages", "--warmup",
                               "--window",        "--direction", "--serial",       "--rounds",   "--shuffle-rounds",
                               "--shuffle-ranks", "--seed",      "--repeat",       "--min-time", "--retest-slowest",
                               "--allocator",     "--fill",      "--verify",       "--output",   "--format",
                               "--quiet",         "--dry-run",   "--ranks",        "--wait",     "--timeout"}) {
      EXPECT_THAT(wanted.text, HasSubstr(option));
    }
  }
}

}  // namespace
}  // namespace leadline::cli
