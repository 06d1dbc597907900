// SPDX-License-Identifier: Apache-2.0
// The command line of `mpilinktest`: every letter, every range, and what LinkTest 1.2 read wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/mpilinktest/options.hpp"
#include "support/refusal.hpp"

namespace leadline::compat::mpilinktest {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Line = std::vector<std::string>;

Command command(Line words) {
  words.insert(words.begin(), "mpilinktest");
  return parse(words);
}

bench::link::LinkRequest parsed(const Line& words) { return command(words).request; }

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { command(words); }, words);
}

TEST(MpilinktestOptions, HaveTheDefaultsOfLinktest) {
  const Command plain = command({});
  const bench::link::LinkRequest& request = plain.request;
  EXPECT_EQ(request.transport, "mpi");
  EXPECT_EQ(request.num_messages, 3u);
  EXPECT_EQ(request.num_warmup, 0u);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(131072));
  EXPECT_EQ(request.num_batches, 1u);
  EXPECT_EQ(request.direction, Direction::semidirectional);
  EXPECT_EQ(request.all_to_all, bench::link::AllToAll::none);
  EXPECT_EQ(request.shuffle_ranks, 0);
  EXPECT_FALSE(request.serial);
  EXPECT_EQ(request.output, "pingpong_results_bin.sion");
  EXPECT_EQ(request.format, ResultFormat::sion);
  EXPECT_EQ(request.row_path, RowPath::automatic);
  EXPECT_EQ(plain.summary_interval, 32u);
  EXPECT_EQ(num_retests(plain, 8), 8);
}

TEST(MpilinktestOptions, SetTheirMember) {
  EXPECT_EQ(parsed({"-i", "60"}).num_messages, 60u);
  EXPECT_EQ(parsed({"-I", "16"}).num_warmup, 16u);
  EXPECT_THAT(parsed({"-s", "1"}).message_sizes_bytes, ElementsAre(1));
  EXPECT_THAT(parsed({"-s", "0"}).message_sizes_bytes, ElementsAre(0));
  EXPECT_TRUE(parsed({"-S", "1"}).serial);
  EXPECT_FALSE(parsed({"-S", "0"}).serial);
  const bench::link::LinkRequest all_to_all = parsed({"-a", "1"});
  EXPECT_EQ(all_to_all.all_to_all, bench::link::AllToAll::before_each_round);
  EXPECT_EQ(all_to_all.all_to_all_size_bytes, 1u);
  EXPECT_EQ(parsed({"-a", "0"}).all_to_all, bench::link::AllToAll::none);
  EXPECT_EQ(parsed({"-M", "1"}).shuffle_ranks, 1);
  EXPECT_EQ(parsed({"-Y", "0"}).row_path, RowPath::funnel);
  EXPECT_EQ(parsed({"-W", "0"}).format, ResultFormat::none);
  EXPECT_EQ(command({"-C", "4"}).summary_interval, 4u);
}

TEST(MpilinktestOptions, SayWhatHasNoEffect) {
  EXPECT_THAT(command({"-D", "5"}).remarks, ElementsAre(HasSubstr("-D has no effect")));
  EXPECT_THAT(command({"-W", "0", "-Y", "1"}).remarks, ElementsAre(HasSubstr("-Y has no effect: -W 0")));
  EXPECT_THAT(command({"-Y", "0"}).remarks, testing::IsEmpty());
}

TEST(MpilinktestOptions, DoNotCutMessages) {
  EXPECT_THAT(parsed({"-k", "4096"}).message_sizes_bytes, ElementsAre(4u << 20));
  EXPECT_THAT(parsed({"-s", "4194304"}).message_sizes_bytes, ElementsAre(4u << 20));
}

TEST(MpilinktestOptions, RetestAtMostAsManyAsThereAreRanks) {
  EXPECT_EQ(num_retests(command({"-Z", "2"}), 4), 2);
  EXPECT_EQ(num_retests(command({"-Z", "0"}), 4), 0);
  EXPECT_EQ(num_retests(command({"-Z", "100"}), 4), 4);
}

TEST(MpilinktestOptions, KeepAFileForEachIteration) {
  EXPECT_EQ(parsed({"-N", "3"}).repeat, 3);
  EXPECT_EQ(parsed({"-T", "2"}).min_time_s, 120);
  EXPECT_EQ(parsed({"-T", "0.5"}).min_time_s, 30);
  EXPECT_TRUE(is_repeated(parsed({"-N", "3"})));
  EXPECT_TRUE(is_repeated(parsed({"-T", "2"})));
  EXPECT_FALSE(is_repeated(parsed({"-N", "-1", "-T", "-1"})));
  EXPECT_EQ(parsed({"-N", "3"}).format, ResultFormat::sion);
  EXPECT_EQ(file_of_iteration("a/b.sion", 1), "a/b_i001.sion");
  EXPECT_EQ(file_of_iteration("pingpong_results_bin.sion", 12), "pingpong_results_bin_i012.sion");
}

TEST(MpilinktestOptions, RefuseWhatLinktestReadWronglyOrDiedOf) {
  EXPECT_THAT(refusal({"-s", "4k"}), AllOf(HasSubstr("-s cannot be '4k'"), HasSubstr("whole number")));
  EXPECT_THAT(refusal({"-s", "-1"}), HasSubstr("-s"));
  EXPECT_THAT(refusal({"-i", "0"}), AllOf(HasSubstr("-i"), HasSubstr("from 1 to")));
  EXPECT_THAT(refusal({"-i", "many"}), HasSubstr("-i"));
  EXPECT_THAT(refusal({"-C", "0"}), AllOf(HasSubstr("-C"), HasSubstr("from 1 to")));
  EXPECT_THAT(refusal({"-N", "0"}), HasSubstr("-N"));
  EXPECT_THAT(refusal({"-T", "-2"}), HasSubstr("-T"));
  EXPECT_THAT(refusal({"-T", "1e8"}), HasSubstr("-T"));
  EXPECT_THAT(refusal({"-I"}), HasSubstr("-I needs a value"));
  for (const char* letter : {"-a", "-M", "-S", "-W", "-Y"}) {
    EXPECT_THAT(refusal({letter, "2"}), AllOf(HasSubstr(letter), HasSubstr("from 0 to 1")));
  }
  EXPECT_THAT(refusal({"-Z", "-1"}), HasSubstr("-Z"));
  EXPECT_THAT(refusal({"-D", "x"}), HasSubstr("-D"));
  EXPECT_THAT(refusal({"-k", "1e99"}), HasSubstr("-k"));
  EXPECT_THAT(refusal({"-s", "1", "-k", "1"}), HasSubstr("-s and -k"));
  EXPECT_THAT(refusal({"-i", "1", "-i", "2"}), HasSubstr("-i is given twice"));
}

TEST(MpilinktestOptions, EndInTheUsageWhereAWordIsUnknown) {
  for (const char* word : {"-h", "-x", "stray", "--message-size", "-s1", "-"}) {
    const Command unknown = command({"-i", "3", word});
    EXPECT_EQ(unknown.action, Action::usage) << word;
    EXPECT_EQ(unknown.unknown, word);
  }
  EXPECT_EQ(command({"--help"}).action, Action::help);
  EXPECT_EQ(command({"-V"}).action, Action::version);
  EXPECT_EQ(version_line(), "FZJ Linktest version: 1.2p1\n");
  for (const char letter : std::string("aiIskTMSWYZNCDV")) {
    EXPECT_THAT(usage(), HasSubstr(std::string("  -") + letter + ' '));
  }
}

}  // namespace
}  // namespace leadline::compat::mpilinktest
