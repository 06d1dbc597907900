// SPDX-License-Identifier: Apache-2.0
// The bisection test's plan: who plays, which patterns, what it costs, and what it refuses.
#include "bench/bisection/plan.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace leadline::bench::bisection {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

std::vector<std::uint32_t> hosts_of(int num_ranks, int ranks_per_host) {
  std::vector<std::uint32_t> host_of;
  for (int rank = 0; rank < num_ranks; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank / ranks_per_host));
  return host_of;
}

BisectionRequest request_of(std::vector<std::string> patterns) {
  BisectionRequest request;
  request.patterns = std::move(patterns);
  return request;
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const schedule::PatternSpec& spec : plan.named) names.push_back(spec.name);
  return names;
}

std::string complaint(const BisectionRequest& request, int num_ranks, int ranks_per_host) {
  const auto host_of = hosts_of(num_ranks, ranks_per_host);
  try {
    plan(request, {num_ranks, ranks_per_host, host_of});
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

TEST(BisectionPlan, PairsStayBetweenHostsUnlessThereIsOneOrItIsAsked) {
  const auto two = hosts_of(4, 2), one = hosts_of(4, 4);
  EXPECT_FALSE(plan({}, {4, 2, two}).participants.within_hosts);
  EXPECT_TRUE(plan({}, {4, 4, one}).participants.within_hosts);
  EXPECT_TRUE(plan({}, {4, 4, {}}).participants.within_hosts);
  BisectionRequest request;
  request.within_hosts = true;
  EXPECT_TRUE(plan(request, {4, 2, two}).participants.within_hosts);
}

TEST(BisectionPlan, TakesAllRanksOrSoManyOfEachHost) {
  const auto host_of = hosts_of(6, 2);
  EXPECT_THAT(plan({}, {6, 2, host_of}).ranks, ElementsAre(0, 1, 2, 3, 4, 5));
  BisectionRequest request;
  request.active_ranks_per_host = 1;
  EXPECT_THAT(plan(request, {6, 2, host_of}).ranks, ElementsAre(0, 2, 4));
}

TEST(BisectionPlan, ChecksPatternsAgainstTheParticipants) {
  const auto host_of = hosts_of(8, 2);
  const Plan all = plan(request_of({"shift:3", "random", "halves"}), {8, 2, host_of});
  EXPECT_TRUE(all.has_random);
  EXPECT_THAT(names_of(all), ElementsAre("shift:3", "halves"));
  BisectionRequest request = request_of({"shift-each"});
  request.active_ranks_per_host = 1;
  const Plan four = plan(request, {8, 2, host_of});
  EXPECT_FALSE(four.has_random);
  EXPECT_THAT(names_of(four), ElementsAre("shift:1", "shift:2", "shift:3"));
  EXPECT_THAT(complaint(request_of({"shift:8"}), 8, 2), HasSubstr("--pattern"));
  EXPECT_THAT(complaint(request_of({"zigzag"}), 8, 2), AllOf(HasSubstr("--pattern"), HasSubstr("zigzag")));
}

TEST(BisectionPlan, CountsPatternsOfASize) {
  const auto host_of = hosts_of(4, 1);
  BisectionRequest request = request_of({"random", "shift-each", "halves"});
  request.rounds = 50;
  request.repeat = 3;
  request.num_worst_steps = 7;
  EXPECT_EQ(plan(request, {4, 1, host_of}).max_patterns(request), 50u + 3 * 4 + 7);
  request.patterns = {"halves"};
  request.num_worst_steps = 0;
  EXPECT_EQ(plan(request, {4, 1, host_of}).max_patterns(request), 3u);
}

TEST(BisectionPlan, RefusesWhatCannotBe) {
  EXPECT_THAT(complaint({}, 1, 1), Not(IsEmpty()));
  EXPECT_THAT(complaint(request_of({}), 4, 1), HasSubstr("no pattern is asked for"));
  EXPECT_THAT(complaint(request_of({"random", "random"}), 4, 1), HasSubstr("random is asked for twice"));
  EXPECT_THAT(complaint(request_of({"shift:2", "shift-each"}), 4, 1), HasSubstr("shift:2 is asked for twice"));
  BisectionRequest request = request_of({"halves"});
  request.num_worst_steps = 1;
  EXPECT_THAT(complaint(request, 4, 1), AllOf(HasSubstr("--worst"), HasSubstr("--pattern random")));
  request = {};
  request.active_ranks_per_host = 1;
  EXPECT_THAT(complaint(request, 4, 4), Not(IsEmpty()));  // one participant
}

TEST(BisectionEstimate, CountsBuffersTablesAndTheFile) {
  const auto host_of = hosts_of(4, 2);
  BisectionRequest request;
  request.message_sizes_bytes = {8, mebi};
  request.rounds = 100;
  request.time_limit_s = 0;
  const Estimate estimate = plan(request, {4, 2, host_of}).estimate;
  EXPECT_EQ(estimate.buffer_bytes, 2 * mebi);
  EXPECT_GT(estimate.host_bytes, 2.0 * 2 * mebi);
  EXPECT_LT(estimate.host_bytes, 2.0 * 2 * mebi + 1e6);
  // 24 bytes a rank and pattern, 89 a pattern, 24 a baseline pair; 730 a pattern in the summary.
  request.rounds = 300;
  EXPECT_EQ(plan(request, {4, 2, host_of}).estimate.file_bytes - estimate.file_bytes,
            2u * 200 * (4 * 24 + 89 + 24 + 730));
  EXPECT_GT(estimate.pattern_s, 22.0 / 1024);
  EXPECT_GT(estimate.measuring_s, 100 * 22.0 / 1024);
}

TEST(BisectionEstimate, GrowsWithWhatIsMeasuredAndEndsAtTheTimeLimit) {
  const auto host_of = hosts_of(4, 2);
  BisectionRequest request;
  request.message_sizes_bytes = {mebi};
  request.time_limit_s = 0;
  const auto estimate = [&] { return plan(request, {4, 2, host_of}).estimate; };
  const Estimate before = estimate();
  request.verify = true;
  EXPECT_GT(estimate().measuring_s, 1.2 * before.measuring_s);
  request.verify = false;
  request.num_baseline_pairs = 3;
  EXPECT_GT(estimate().pattern_s, 1.9 * before.pattern_s);
  request.time_limit_s = 5;
  EXPECT_EQ(estimate().measuring_s, 5);
}

TEST(BisectionEstimate, OfAMillionRanksKeepsWithinItsBounds) {
  constexpr int num_ranks = 1 << 20;
  const auto host_of = hosts_of(num_ranks, 64);
  BisectionRequest request = request_of({"random", "halves", "transpose", "bit-reversal", "tornado:32"});
  request.rounds = 100;
  const Plan all = plan(request, {num_ranks, 64, host_of});
  EXPECT_THAT(all.ranks, SizeIs(num_ranks));
  EXPECT_LT(all.estimate.table_bytes, 80 * mebi);  // the root's, with what it gathers at the end
  EXPECT_GT(all.estimate.table_bytes, 12 * mebi);
}

TEST(BisectionPlan, ThatDoesNotFitIntoMemoryNamesOptions) {
  const auto host_of = hosts_of(4, 2);
  BisectionRequest request;
  request.message_sizes_bytes = {mebi};
  const Plan two = plan(request, {4, 2, host_of});
  EXPECT_NO_THROW(check_memory(two, 8 * mebi));
  try {
    check_memory(two, mebi);
    ADD_FAILURE() << "4 MiB fit into 1 MiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("2 ranks"), HasSubstr("--message-size"), HasSubstr("--rounds")));
  }
}

}  // namespace
}  // namespace leadline::bench::bisection
