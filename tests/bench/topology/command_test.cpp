// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline topology`: defaults, values, and combinations in which an option would be ignored.
#include "bench/topology/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/option_parser.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::topology::command_test {
namespace {

using schedule::ChannelMode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bench::topology::TopologyRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "topology"});
  return bench::topology::parse_topology_command(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

TEST(TopologyOptions, HaveNettestsDefaults) {
  const bench::topology::TopologyRequest request = parse({});
  EXPECT_THAT(request.patterns, ElementsAre("star", "star2", "complete", "complete2", "ring", "ring2"));
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024, 4096, 16384, 65536, 262144, 1048576));
  EXPECT_EQ(request.num_iterations, 100u);
  EXPECT_EQ(request.num_warmup, 10u);
  EXPECT_EQ(request.num_traced, 10u);
  EXPECT_EQ(request.repeat, 1);
  EXPECT_EQ(request.max_outstanding, 0u);
  EXPECT_EQ(request.duration_s, 0);
  EXPECT_EQ(request.rate, bench::topology::Rate::total);
  EXPECT_EQ(request.format, ResultFormat::hdf5);
}

TEST(TopologyOptions, SetTheirMember) {
  const bench::topology::TopologyRequest request = parse({"--pattern",
                                                          "torus:2x2,star2:1",
                                                          "--mode",
                                                          "one-way",
                                                          "--message-size",
                                                          "100B-300B+100B",
                                                          "--iterations",
                                                          "7",
                                                          "--warmup",
                                                          "0",
                                                          "--traced",
                                                          "0",
                                                          "--max-outstanding",
                                                          "3",
                                                          "--fill",
                                                          "random",
                                                          "--fill-seed",
                                                          "5",
                                                          "--repeat",
                                                          "2",
                                                          "--print",
                                                          "average",
                                                          "--verify",
                                                          "--output",
                                                          "x.json",
                                                          "--overwrite",
                                                          "--wait",
                                                          "block"});
  EXPECT_THAT(request.patterns, ElementsAre("torus:2x2", "star2:1"));
  EXPECT_EQ(request.mode, ChannelMode::one_way);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(100, 200, 300));
  EXPECT_EQ(request.num_iterations, 7u);
  EXPECT_EQ(request.num_warmup, 0u);
  EXPECT_EQ(request.num_traced, 0u);
  EXPECT_EQ(request.max_outstanding, 3u);
  EXPECT_EQ(request.fill_seed, 5u);
  EXPECT_EQ(request.repeat, 2);
  EXPECT_EQ(request.rate, bench::topology::Rate::average);
  EXPECT_TRUE(request.verify);
  EXPECT_TRUE(request.overwrite);
  EXPECT_EQ(request.format, ResultFormat::json);
  EXPECT_EQ(request.wait, WaitMode::block);
  EXPECT_TRUE(parse({"--shared-buffers"}).shared_buffers);
}

TEST(TopologyOptions, LoadForAWhile) {
  const bench::topology::TopologyRequest request = parse({"--duration", "1.5m", "--verify-every", "10"});
  EXPECT_EQ(request.duration_s, 90);
  EXPECT_EQ(request.verify_every, 10u);
}

TEST(TopologyOptions, TakeEdgesAloneOrBehindOthers) {
  EXPECT_THAT(parse({"--edges", "links.txt"}).patterns, IsEmpty());
  EXPECT_EQ(parse({"--edges", "links.txt"}).edges_file, "links.txt");
  EXPECT_EQ(parse({"--edges", "links.txt", "--mode", "phased"}).mode, ChannelMode::phased);
  EXPECT_THAT(parse({"--edges", "links.txt", "--pattern", "ring"}).patterns, ElementsAre("ring"));
}

TEST(TopologyOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"--pattern", "blob"}), AllOf(HasSubstr("--pattern cannot be 'blob'"), HasSubstr("hypercube")));
  EXPECT_THAT(refusal({"--pattern", "ring,blob"}), HasSubstr("'blob'"));
  EXPECT_THAT(refusal({"--pattern", "ring,"}), HasSubstr("''"));
  EXPECT_THAT(refusal({"--pattern", ""}), HasSubstr("--pattern"));
  EXPECT_THAT(refusal({"--pattern", "star:x"}), HasSubstr("'x' is no rank"));
  EXPECT_THAT(refusal({"--edges", ""}), HasSubstr("--edges"));
  EXPECT_THAT(refusal({"--mode", "sideways"}), HasSubstr("answered, phased, both-ways, one-way"));
  EXPECT_THAT(refusal({"--print", "sum"}), HasSubstr("local, total, average"));
  EXPECT_THAT(refusal({"--message-size", "0"}), AllOf(HasSubstr("--message-size"), HasSubstr("at least 1 B")));
  EXPECT_THAT(refusal({"--message-size", "0-8+4"}), HasSubstr("at least 1 B"));
  EXPECT_THAT(refusal({"--iterations", "0"}), HasSubstr("--iterations"));
  EXPECT_THAT(refusal({"--max-outstanding", "0"}), HasSubstr("--max-outstanding"));
  EXPECT_THAT(refusal({"--verify-every", "0", "--duration", "1s"}), HasSubstr("--verify-every"));
  EXPECT_THAT(refusal({"--duration", "0"}), HasSubstr("--duration"));
  EXPECT_THAT(refusal({"--duration", "1s", "--duration", "2s"}), HasSubstr("--duration"));
  EXPECT_THAT(refusal({"--format", "sion"}), AllOf(HasSubstr("--format"), HasSubstr("hdf5, json, none")));
}

TEST(TopologyOptions, RefuseCombinationsInWhichOneIsIgnored) {
  EXPECT_THAT(refusal({"--mode", "phased"}), HasSubstr("--mode has no effect"));
  EXPECT_THAT(refusal({"--mode", "phased", "--pattern", "star2:1,incast:2"}), HasSubstr("--mode has no effect"));
  EXPECT_THAT(refusal({"--verify-every", "2"}), HasSubstr("--verify-every has no effect"));
  for (const char* option : {"--iterations", "--warmup", "--traced", "--repeat"}) {
    EXPECT_THAT(refusal({"--duration", "1s", option, "5"}), HasSubstr(std::string(option) + " has no effect"));
  }
  EXPECT_THAT(refusal({"--duration", "1s", "--verify"}), HasSubstr("--verify has no effect"));
  EXPECT_THAT(refusal({"--fill-seed", "4"}), HasSubstr("--fill-seed has no effect"));
  EXPECT_THAT(refusal({"--print", "local", "--output", "-"}), HasSubstr("--print has no effect"));
  EXPECT_THAT(refusal({"--print", "local", "--format", "json"}), HasSubstr("--print has no effect"));
  EXPECT_THAT(refusal({"--row-path", "funnel", "--format", "json"}), HasSubstr("--row-path has no effect"));
  EXPECT_THAT(refusal({"--ranks", "4"}), HasSubstr("--ranks has no effect"));
  EXPECT_THAT(refusal({"--overwrite"}), HasSubstr("--overwrite has no effect"));
}

TEST(TopologyOptions, RefuseToVerifyWhatCannotBeChecked) {
  const std::vector<std::vector<std::string>> checkers{{"--verify"}, {"--duration", "1s"}};
  for (const auto& checker : checkers) {
    const auto with = [&](std::vector<std::string> words) {
      words.insert(words.begin(), checker.begin(), checker.end());
      return refusal(words);
    };
    EXPECT_THAT(with({"--shared-buffers"}), AllOf(HasSubstr(checker[0]), HasSubstr("--shared-buffers")));
    EXPECT_THAT(with({"--fill", "zero"}), AllOf(HasSubstr(checker[0]), HasSubstr("--fill zero")));
    EXPECT_THAT(with({"--allocator", "cuda"}), AllOf(HasSubstr(checker[0]), HasSubstr("--allocator cuda")));
  }
}

TEST(TopologyOptions, RefuseToWriteSion) {
  EXPECT_THAT(refusal({"--output", "x.sion"}), AllOf(HasSubstr("x.sion"), HasSubstr(".h5")));
}

TEST(TopologyOptions, ExplainThemselves) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const command::HelpWanted& wanted) {
    for (const char* option : {"--pattern",        "--edges",          "--mode",
                               "--message-size",   "--iterations",     "--warmup",
                               "--traced",         "--repeat",         "--max-outstanding",
                               "--shared-buffers", "--verify",         "--duration",
                               "--verify-every",   "--print",          "--transport",
                               "--local",          "--interface",      "--host-name-suffix",
                               "--wait",           "--timeout",        "--allocator",
                               "--fill",           "--fill-seed",      "--output",
                               "--format",         "--row-path",       "--overwrite",
                               "--quiet",          "--verbose",        "--dry-run",
                               "--ranks",          "--ranks-per-host", "1KiB-1MiB*4",
                               "100B-1000B+100B"}) {
      EXPECT_THAT(wanted.text, HasSubstr(option));
    }
  }
}

}  // namespace
}  // namespace leadline::bench::topology::command_test
