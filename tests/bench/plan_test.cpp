// SPDX-License-Identifier: Apache-2.0
// The link test's plan: rounds, repeats, batches, cost, and what does not fit.
#include "bench/link/plan.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "output/plan_text.hpp"

namespace leadline::bench::link {
namespace {

TEST(Plan, CountsRoundsAndRepeats) {
  LinkRequest request;
  request.repeat = 2;
  request.shuffle_ranks = 3;
  EXPECT_EQ(plan(request, {1, 1}).num_rounds, 1);
  EXPECT_EQ(plan(request, {2, 2}).num_rounds, 1);
  EXPECT_EQ(plan(request, {3, 3}).num_rounds, 3);
  EXPECT_EQ(plan(request, {8, 8}).num_rounds, 7);
  EXPECT_EQ(plan(request, {8, 8}).num_repeats, 6);
  request.serial = true;
  EXPECT_EQ(plan(request, {8, 8}).num_rounds, 28);
}

TEST(Plan, EveryPermutationIsRunOncePerRepeat) {
  LinkRequest request;
  EXPECT_EQ(permutation_of(request, 5), -1);
  request.shuffle_ranks = 3;
  EXPECT_EQ(permutation_of(request, 0), 0);
  EXPECT_EQ(permutation_of(request, 2), 2);
  EXPECT_EQ(permutation_of(request, 3), 0);
}

TEST(Plan, HasNoMoreBatchesThanMessages) {
  LinkRequest request;
  request.num_messages = 3;
  EXPECT_EQ(plan(request, {2, 2}).num_batches, 3u);
  request.num_messages = 1000;
  EXPECT_EQ(plan(request, {2, 2}).num_batches, request.num_batches);
}

TEST(Plan, RefusesRoundsThatDoNotExist) {
  LinkRequest request;
  request.rounds = {1, 9};
  EXPECT_THROW(plan(request, {8, 8}), Error);
}

TEST(Plan, TablesStayWithinSixtyFourBytesPerPartner) {
  LinkRequest request;
  request.shuffle_ranks = 1;
  const int num_ranks = 1'000'000;
  EXPECT_LE(plan(request, {num_ranks, 1}).estimate.table_bytes, 64u * num_ranks);
}

TEST(CheckMemory, NamesWhatIsNeededAndWhatIsThere) {
  LinkRequest request;
  request.message_sizes_bytes = {std::uint64_t{1} << 30};
  const Plan eight = plan(request, {8, 8});
  EXPECT_NO_THROW(check_memory(eight, std::uint64_t{17} << 30));
  try {
    check_memory(eight, std::uint64_t{2} << 30);
    FAIL() << "it does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_NE(std::string(error.what()).find("16.0 GiB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--message-size"), std::string::npos);
  }
}

TEST(AvailableMemory, IsSomething) { EXPECT_GT(available_memory_bytes(), 1u << 20); }

TEST(PlanText, ShowsEveryRoundOfAFewRanks) {
  LinkRequest request;
  const std::string text = output::plan_text(request, plan(request, {4, 4}));
  EXPECT_NE(text.find("0-3 1-2"), std::string::npos) << text;
  EXPECT_NE(text.find("0-1 2-3"), std::string::npos) << text;
}

TEST(PlanText, WalksAllRoundsOfOneOfManyRanks) {
  LinkRequest request;
  const std::string text = output::plan_text(request, plan(request, {1 << 20, 1}));
  EXPECT_NE(text.find("1048575 rounds walked: 1048575 partners"), std::string::npos) << text;
}

}  // namespace
}  // namespace leadline::bench::link
