// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`: defaults, values, and combinations in which an option would be ignored.
#include "bench/link/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/option_parser.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::link::command_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LinkRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "link"});
  return parse_link(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

TEST(LinkOptions, HaveDefaultsThatMeasureLatencyAndBandwidth) {
  const LinkRequest request = parse({});
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024, 1 << 20));
  EXPECT_EQ(request.num_messages, 100u);
  EXPECT_EQ(request.direction, Direction::semidirectional);
  EXPECT_EQ(request.retest, 10);
  EXPECT_EQ(request.wait, WaitMode::automatic);
  EXPECT_EQ(request.format, ResultFormat::hdf5);
}

TEST(LinkOptions, SetTheirMember) {
  const LinkRequest request =
      parse({"--message-size", "1B-4B", "--direction", "bidirectional", "--window=8", "--wait", "yield", "--verify",
             "--shuffle-rounds", "--seed", "7", "--repeat", "3", "--output", "x.json", "--only-rounds", "2,1"});
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1, 2, 4));
  EXPECT_EQ(request.direction, Direction::bidirectional);
  EXPECT_EQ(request.window, 8u);
  EXPECT_EQ(request.wait, WaitMode::yield);
  EXPECT_TRUE(request.verify);
  EXPECT_EQ(request.seed, 7u);
  EXPECT_EQ(request.repeat, 3);
  EXPECT_EQ(request.format, ResultFormat::json);
  EXPECT_THAT(request.only_rounds, ElementsAre(2, 1));
}

TEST(LinkOptions, ChooseThePairs) {
  const LinkRequest request = parse({"--bisection", "--between-hosts", "--all-to-all", "around", "--all-to-all-size",
                                     "1KiB", "--buffers", "4", "--check-buffers", "--row-path", "funnel"});
  EXPECT_TRUE(request.bisection);
  EXPECT_TRUE(request.between_hosts);
  EXPECT_FALSE(request.one_per_host);
  EXPECT_EQ(request.all_to_all, AllToAll::around);
  EXPECT_EQ(request.all_to_all_size_bytes, 1024u);
  EXPECT_EQ(request.num_buffers, 4u);
  EXPECT_TRUE(request.check_buffers);
  EXPECT_EQ(request.row_path, RowPath::funnel);
  EXPECT_TRUE(parse({"--one-per-host"}).one_per_host);
}

TEST(LinkOptions, HaveOneSeedForAllUnlessMoreAreGiven) {
  const std::vector<std::string> random{"--shuffle-rounds", "--shuffle-ranks", "2", "--fill", "mersenne"};
  std::vector<std::string> words = random;
  words.insert(words.end(), {"--seed", "9876543210"});
  LinkRequest request = parse(words);
  EXPECT_EQ(request.shuffle_rounds_seed, 9876543210u);
  EXPECT_EQ(request.shuffle_ranks_seed, 9876543210u);
  EXPECT_EQ(request.fill_seed, 9876543210u);
  words.insert(words.end(), {"--shuffle-ranks-seed", "5"});
  request = parse(words);
  EXPECT_EQ(request.shuffle_rounds_seed, 9876543210u);
  EXPECT_EQ(request.shuffle_ranks_seed, 5u);
}

TEST(LinkOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"--mesages", "5"}), HasSubstr("--mesages"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("stray"));
  EXPECT_THAT(refusal({"--messages"}), HasSubstr("--messages"));
  EXPECT_THAT(refusal({"--direction", "sideways"}), HasSubstr("semidirectional, unidirectional, bidirectional"));
  EXPECT_THAT(refusal({"--allocator", "heap"}), HasSubstr("aligned"));
  EXPECT_THAT(refusal({"--message-size", "-5"}), HasSubstr("-5"));
  EXPECT_THAT(refusal({"--message-size", "2TiB"}), HasSubstr("1 TiB"));
  EXPECT_THAT(refusal({"--format", "xml"}), HasSubstr("hdf5, sion, json, none"));
}

TEST(LinkOptions, SuggestWhatWasMeant) {
  EXPECT_THAT(refusal({"--size", "1KiB"}), HasSubstr("unknown option --size. Did you mean --message-size?"));
  EXPECT_THAT(refusal({"--retest-slowest=3"}), HasSubstr("Did you mean --retest?"));
  EXPECT_THAT(refusal({"--max-rounds", "3"}), HasSubstr("Did you mean --rounds?"));
  EXPECT_THAT(refusal({"--mesages", "5"}), HasSubstr("Did you mean --messages?"));
  EXPECT_THAT(refusal({"--zzz"}), HasSubstr("See leadline link --help"));
}

TEST(LinkOptions, WriteJson) {
  EXPECT_EQ(parse({"--json"}).format, ResultFormat::json);
  EXPECT_EQ(parse({"--json"}).output, "-");
  EXPECT_EQ(parse({"--json", "--quiet"}).output, "-");
  EXPECT_EQ(parse({"--json", "run.out"}).output, "run.out");
  EXPECT_EQ(parse({"--json=run.out"}).format, ResultFormat::json);
  EXPECT_THAT(refusal({"--json", "--format", "hdf5"}), HasSubstr("--json and --format do not go together"));
  EXPECT_THAT(refusal({"--json", "a", "--output", "b.h5"}), HasSubstr("--json and --output do not go together"));
  EXPECT_THAT(refusal({"--json", "--json"}), HasSubstr("--json"));
}

TEST(LinkOptions, HaveShortForms) {
  const LinkRequest request = parse({"-o", "x.h5", "-q"});
  EXPECT_EQ(request.output, "x.h5");
  EXPECT_TRUE(request.quiet);
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
  EXPECT_THAT(refusal({"--shuffle-rounds-seed", "4"}), HasSubstr("--shuffle-rounds-seed has no effect"));
  EXPECT_THAT(refusal({"--shuffle-ranks-seed", "4"}), HasSubstr("--shuffle-ranks-seed has no effect"));
  EXPECT_THAT(refusal({"--fill-seed", "4"}), HasSubstr("--fill-seed has no effect"));
  EXPECT_THAT(refusal({"--all-to-all-size", "4"}), HasSubstr("--all-to-all-size has no effect"));
  EXPECT_THAT(refusal({"--one-per-host", "--between-hosts"}), HasSubstr("--between-hosts has no effect"));
  EXPECT_THAT(refusal({"--buffers", "111"}), HasSubstr("--buffers 111 is more than there are messages"));
  EXPECT_THAT(refusal({"--row-path", "auto", "--format", "json"}), HasSubstr("--row-path has no effect"));
  EXPECT_THAT(refusal({"--ranks-per-host", "2"}), HasSubstr("--ranks-per-host has no effect"));
  EXPECT_THAT(refusal({"--interface", "lo", "--host-name-suffix", "i"}), HasSubstr("--host-name-suffix"));
  EXPECT_THAT(refusal({"--min-time", "1s", "--output", "x.sion"}), HasSubstr("--min-time"));
  EXPECT_THAT(refusal({"--verify", "--allocator", "cuda"}), HasSubstr("--check-buffers"));
  EXPECT_THAT(refusal({"--batches", "200"}), HasSubstr("more than --messages 100"));
}

TEST(LinkOptions, TakeTheMemoryOfTheTransportUnlessToldOtherwise) {
  EXPECT_EQ(parse({}).allocator, "aligned");
  EXPECT_EQ(parse({"--transport", "tcp"}).allocator, "aligned");
  EXPECT_EQ(parse({"--transport", "cuda"}).allocator, "cuda");
  EXPECT_EQ(parse({"--transport", "nccl"}).allocator, "cuda");
  EXPECT_EQ(parse({"--transport", "cuda", "--allocator", "huge"}).allocator, "huge");
  EXPECT_THAT(refusal({"--transport", "cuda", "--verify"}), HasSubstr("--check-buffers"));
}

TEST(LinkOptions, ExplainThemselves) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const command::HelpWanted& wanted) {
    for (const char* option : {"--transport",
                               "--local",
                               "--message-size",
                               "--messages",
                               "--warmup",
                               "--window",
                               "--direction",
                               "--serial",
                               "--only-rounds",
                               "--shuffle-rounds",
                               "--shuffle-ranks",
                               "--seed",
                               "--repeat",
                               "--min-time",
                               "--retest",
                               "--allocator",
                               "--fill",
                               "--verify",
                               "--output",
                               "--format",
                               "--quiet",
                               "--verbose",
                               "--dry-run",
                               "--ranks",
                               "--wait",
                               "--timeout",
                               "--bisection",
                               "--between-hosts",
                               "--one-per-host",
                               "--all-to-all",
                               "--all-to-all-size",
                               "--buffers",
                               "--check-buffers",
                               "--fill-seed",
                               "--shuffle-rounds-seed",
                               "--row-path",
                               "--shuffle-ranks-seed",
                               "--host-name-suffix",
                               "--ranks-per-host"}) {
      EXPECT_THAT(wanted.text, HasSubstr(option));
    }
  }
}

}  // namespace
}  // namespace leadline::bench::link::command_test
