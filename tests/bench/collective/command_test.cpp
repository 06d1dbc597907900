// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline collective`: defaults, values, and what is refused.
#include "bench/collective/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"

namespace leadline::bench::collective::command_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

CollectiveRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "collective"});
  return parse_collective_command(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

TEST(CollectiveOptions, HaveTheDefaultsOfTheHelp) {
  const CollectiveRequest request = parse({});
  EXPECT_THAT(request.operations, ElementsAre("allreduce", "allgather", "reduce-scatter", "alltoall"));
  EXPECT_EQ(request.algorithm, Algorithm::automatic);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1 << 10, 4 << 20));
  EXPECT_EQ(request.num_iterations, 20u);
  EXPECT_EQ(request.num_batches, 10u);
  EXPECT_EQ(request.rounds, 3u);
  EXPECT_EQ(request.group_hosts, 0u);
}

TEST(CollectiveOptions, SetTheirMember) {
  const CollectiveRequest request = parse({"--operation",
                                           "alltoall,allgather",
                                           "--algorithm",
                                           "ring",
                                           "--group-hosts",
                                           "4",
                                           "--serial",
                                           "--seed",
                                           "9",
                                           "--rounds",
                                           "5",
                                           "--batches",
                                           "3",
                                           "--iterations",
                                           "7",
                                           "--warmup",
                                           "1",
                                           "--message-size",
                                           "8,1KiB",
                                           "--verify"});
  EXPECT_THAT(request.operations, ElementsAre("alltoall", "allgather"));
  EXPECT_EQ(request.algorithm, Algorithm::ring);
  EXPECT_EQ(request.group_hosts, 4u);
  EXPECT_TRUE(request.serial);
  EXPECT_EQ(request.seed, 9u);
  EXPECT_EQ(request.rounds, 5u);
  EXPECT_EQ(request.num_batches, 3u);
  EXPECT_EQ(request.num_iterations, 7u);
  EXPECT_EQ(request.num_warmup, 1u);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(8, 1024));
  EXPECT_TRUE(request.verify);
}

TEST(CollectiveOptions, RefuseWhatIsNoValue) {
  EXPECT_THAT(refusal({"--operation", "scan"}), AllOf(HasSubstr("--operation"), HasSubstr("allreduce, allgather")));
  EXPECT_THAT(refusal({"--algorithm", "tree"}), AllOf(HasSubstr("--algorithm"), HasSubstr("auto, ring, library")));
  EXPECT_THAT(refusal({"--message-size", "2"}), HasSubstr("--message-size"));
  EXPECT_THAT(refusal({"--message-size", "8GiB"}), HasSubstr("--message-size"));
  EXPECT_THAT(refusal({"--warmup", "0"}), HasSubstr("--warmup"));
  EXPECT_THAT(refusal({"--output", "r.sion"}), HasSubstr("SION"));
}

TEST(CollectiveOptions, RefuseWhatWouldHaveNoEffect) {
  EXPECT_THAT(refusal({"--serial"}), HasSubstr("--group-hosts"));
  EXPECT_THAT(refusal({"--seed", "3"}), HasSubstr("--group-hosts"));
  EXPECT_THAT(refusal({"--algorithm", "ring", "--allocator", "cuda"}), HasSubstr("ordinary memory"));
  EXPECT_THAT(refusal({"--algorithm", "ring", "--transport", "nccl"}), HasSubstr("ordinary memory"));
}

}  // namespace
}  // namespace leadline::bench::collective::command_test
