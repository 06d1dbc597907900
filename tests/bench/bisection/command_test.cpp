// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline bisection`: defaults, values, and combinations in which an option would be ignored.
#include "bench/bisection/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/option_parser.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::bisection::command_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

bench::bisection::BisectionRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "bisection"});
  return bench::bisection::parse_bisection_command(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

TEST(BisectionOptions, HaveDefaultsThatMeasureTheNumber) {
  const bench::bisection::BisectionRequest request = parse({});
  EXPECT_THAT(request.patterns, ElementsAre("random"));
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1 << 20));
  EXPECT_EQ(request.seed, 1u);
  EXPECT_EQ(request.active_ranks_per_host, 0);
  EXPECT_FALSE(request.within_hosts);
  EXPECT_EQ(request.num_exchanges, 20u);
  EXPECT_EQ(request.num_warmup, 2u);
  EXPECT_EQ(request.repeat, 1);
  EXPECT_EQ(request.rounds, 1000u);
  EXPECT_DOUBLE_EQ(request.precision, 0.01);
  EXPECT_EQ(request.time_limit_s, 120);
  EXPECT_EQ(request.num_baseline_pairs, 1u);
  EXPECT_EQ(request.num_worst_steps, 0u);
  EXPECT_EQ(request.retest, 10u);
  EXPECT_DOUBLE_EQ(request.diagnosis.threshold, 0.1);
  EXPECT_DOUBLE_EQ(request.diagnosis.false_discovery_rate, 0.01);
  EXPECT_EQ(request.topology, "");
  EXPECT_EQ(request.num_buckets, 10u);
  EXPECT_EQ(request.format, ResultFormat::hdf5);
}

TEST(BisectionOptions, SetTheirMember) {
  const bench::bisection::BisectionRequest request = parse({"--pattern",
                                                            "random,shift:3,tornado:4",
                                                            "--seed",
                                                            "18446744073709551615",
                                                            "--active-ranks-per-host",
                                                            "2",
                                                            "--message-size",
                                                            "1KiB-4KiB",
                                                            "--exchanges",
                                                            "7",
                                                            "--warmup",
                                                            "0",
                                                            "--repeat",
                                                            "3",
                                                            "--rounds",
                                                            "50",
                                                            "--precision",
                                                            "2.5%",
                                                            "--time-limit",
                                                            "1.5m",
                                                            "--worst",
                                                            "40",
                                                            "--fill",
                                                            "random",
                                                            "--fill-seed",
                                                            "5",
                                                            "--wait",
                                                            "block",
                                                            "--output",
                                                            "x.json",
                                                            "--overwrite"});
  EXPECT_THAT(request.patterns, ElementsAre("random", "shift:3", "tornado:4"));
  EXPECT_EQ(request.seed, UINT64_MAX);
  EXPECT_EQ(request.active_ranks_per_host, 2);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024, 2048, 4096));
  EXPECT_EQ(request.num_exchanges, 7u);
  EXPECT_EQ(request.num_warmup, 0u);
  EXPECT_EQ(request.repeat, 3);
  EXPECT_EQ(request.rounds, 50u);
  EXPECT_DOUBLE_EQ(request.precision, 0.025);
  EXPECT_EQ(request.time_limit_s, 90);
  EXPECT_EQ(request.num_worst_steps, 40u);
  EXPECT_EQ(request.fill, Fill::random);
  EXPECT_EQ(request.fill_seed, 5u);
  EXPECT_EQ(request.wait, WaitMode::block);
  EXPECT_EQ(request.format, ResultFormat::json);
  EXPECT_TRUE(request.overwrite);
}

TEST(BisectionOptions, SetWhatIsMeasuredBeside) {
  const bench::bisection::BisectionRequest request =
      parse({"--within-hosts", "--verify", "--baseline-pairs", "0", "--retest", "3", "--threshold", "0.5", "--topology",
             "fat-tree:4x2", "--buckets", "50"});
  EXPECT_TRUE(request.within_hosts);
  EXPECT_TRUE(request.verify);
  EXPECT_EQ(request.num_baseline_pairs, 0u);
  EXPECT_EQ(request.retest, 3u);
  EXPECT_DOUBLE_EQ(request.diagnosis.threshold, 0.5);
  EXPECT_EQ(request.topology, "fat-tree:4x2");
  EXPECT_EQ(request.num_buckets, 50u);
}

TEST(BisectionOptions, TakeNothingForNever) {
  const bench::bisection::BisectionRequest request = parse({"--precision", "0", "--time-limit", "0", "--buckets", "0"});
  EXPECT_EQ(request.precision, 0);
  EXPECT_EQ(request.time_limit_s, 0);
  EXPECT_EQ(request.num_buckets, 0u);
}

TEST(BisectionOptions, KnowEveryPattern) {
  for (const char* word : {"random", "halves", "reversal", "neighbour", "bit-reversal", "transpose", "shift:2",
                           "shift-each", "tornado:3"}) {
    EXPECT_THAT(parse({"--pattern", word}).patterns, ElementsAre(word));
  }
}

TEST(BisectionOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"--pattern", "blob"}), AllOf(HasSubstr("--pattern"), HasSubstr("blob"), HasSubstr("halves")));
  EXPECT_THAT(refusal({"--pattern", "random,"}), HasSubstr("--pattern"));
  EXPECT_THAT(refusal({"--pattern", ""}), HasSubstr("--pattern"));
  EXPECT_THAT(refusal({"--pattern", "shift"}), HasSubstr("shift"));
  EXPECT_THAT(refusal({"--pattern", "shift:x"}), HasSubstr("shift:x"));
  EXPECT_THAT(refusal({"--pattern", "halves:2"}), HasSubstr("halves:2"));
  EXPECT_THAT(refusal({"--message-size", "0"}), AllOf(HasSubstr("--message-size"), HasSubstr("at least 1 B")));
  EXPECT_THAT(refusal({"--message-size", "2TiB"}), HasSubstr("1 TiB"));
  EXPECT_THAT(refusal({"--format", "sion"}), AllOf(HasSubstr("--format"), HasSubstr("hdf5, json, none")));
  EXPECT_THAT(refusal({"--messages", "5"}), HasSubstr("--messages"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("stray"));
}

TEST(BisectionOptions, RefuseNumbersOutOfRange) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> refused{
      {"--active-ranks-per-host", {"0", "-1", "1.5", ""}},
      {"--seed", {"-1", "18446744073709551616"}},
      {"--worst", {"-1", "1000001"}},
      {"--exchanges", {"0", "1000001", "ten"}},
      {"--warmup", {"-1", "1000001"}},
      {"--repeat", {"0"}},
      {"--rounds", {"0", "10000001"}},
      {"--baseline-pairs", {"-1", "1001"}},
      {"--retest", {"100001"}},
      {"--buckets", {"-1", "1001"}},
      {"--precision", {"-1%", "101%", "1.1", "nan", "1 percent", "%", ""}},
      {"--threshold", {"0", "0.05%", "101%", "half"}},
      {"--time-limit", {"-1", "nan", "2x", ""}}};
  for (const auto& [option, values] : refused) {
    for (const char* value : values) {
      EXPECT_THAT(refusal({std::string(option) + "=" + value, "--pattern", "random,halves"}), HasSubstr(option))
          << value;
    }
  }
}

TEST(BisectionOptions, RefuseToBeGivenTwice) {
  EXPECT_THAT(refusal({"--seed", "1", "--seed", "2"}), HasSubstr("--seed"));
  EXPECT_THAT(refusal({"--within-hosts", "--within-hosts"}), HasSubstr("--within-hosts"));
}

TEST(BisectionOptions, RefuseWhatIsAboutRandomPatternsWithoutThem) {
  const std::vector<test::Words> about_random{
      {"--seed", "4"},           {"--within-hosts"},     {"--worst", "5"},
      {"--rounds", "5"},         {"--precision", "2%"},  {"--retest", "5"},
      {"--baseline-pairs", "5"}, {"--threshold", "50%"}, {"--topology", "fat-tree:4x2"},
      {"--buckets", "5"}};
  for (test::Words words : about_random) {
    const std::string option = words.front();
    words.insert(words.end(), {"--pattern", "halves,shift:1"});
    EXPECT_THAT(refusal(words), AllOf(HasSubstr(option + " has no effect"), HasSubstr("--pattern")));
    words.back() += ",random";
    EXPECT_NO_THROW(parse(words));
  }
}

TEST(BisectionOptions, RefuseCombinationsInWhichOneIsIgnored) {
  EXPECT_THAT(refusal({"--repeat", "3"}), AllOf(HasSubstr("--repeat has no effect"), HasSubstr("--rounds")));
  EXPECT_THAT(refusal({"--within-hosts", "--active-ranks-per-host", "1"}), HasSubstr("--within-hosts has no effect"));
  EXPECT_THAT(refusal({"--precision", "1%", "--rounds", "20"}),
              AllOf(HasSubstr("--precision has no effect"), HasSubstr("--rounds")));
  EXPECT_NO_THROW(parse({"--precision", "1%", "--rounds", "21"}));
  EXPECT_NO_THROW(parse({"--precision", "0", "--rounds", "5"}));
  EXPECT_NO_THROW(parse({"--time-limit", "1s", "--pattern", "halves"}));
  EXPECT_THAT(refusal({"--fill-seed", "4"}), HasSubstr("--fill-seed has no effect"));
  EXPECT_THAT(refusal({"--row-path", "funnel", "--format", "json"}), HasSubstr("--row-path has no effect"));
  EXPECT_THAT(refusal({"--ranks", "4"}), HasSubstr("--ranks has no effect"));
  EXPECT_THAT(refusal({"--ranks-per-host", "4"}), HasSubstr("--ranks-per-host has no effect"));
  EXPECT_THAT(refusal({"--overwrite"}), HasSubstr("--overwrite has no effect"));
  EXPECT_THAT(refusal({"--interface", "lo", "--host-name-suffix", "i"}), HasSubstr("--host-name-suffix"));
}

TEST(BisectionOptions, RefuseToVerifyWhatCannotBeChecked) {
  EXPECT_THAT(refusal({"--verify", "--fill", "zero"}), AllOf(HasSubstr("--verify"), HasSubstr("--fill zero")));
  EXPECT_THAT(refusal({"--verify", "--allocator", "cuda"}), AllOf(HasSubstr("--verify"), HasSubstr("cuda")));
}

TEST(BisectionOptions, RefuseToWriteSion) {
  EXPECT_THAT(refusal({"--output", "x.sion"}), AllOf(HasSubstr("a bisection test"), HasSubstr("x.sion")));
}

TEST(BisectionOptions, ExplainThemselves) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const command::HelpWanted& wanted) {
    for (const char* option : {"--transport",      "--local",
                               "--interface",      "--host-name-suffix",
                               "--timeout",        "--active-ranks-per-host",
                               "--within-hosts",   "--pattern",
                               "--seed",           "--worst",
                               "--message-size",   "--exchanges",
                               "--warmup",         "--repeat",
                               "--fill",           "--fill-seed",
                               "--verify",         "--allocator",
                               "--wait",           "--rounds",
                               "--precision",      "--time-limit",
                               "--baseline-pairs", "--retest",
                               "--threshold",      "--buckets",
                               "--output",         "--format",
                               "--row-path",       "--overwrite",
                               "--quiet",          "--verbose",
                               "--dry-run",        "--ranks",
                               "--ranks-per-host", "harmonic mean",
                               "bit-reversal"}) {
      EXPECT_THAT(wanted.text, HasSubstr(option));
    }
  }
}

}  // namespace
}  // namespace leadline::bench::bisection::command_test
