// SPDX-License-Identifier: Apache-2.0
// The link test's plan: rounds, repeats, batches, cost, and what does not fit.
#include "bench/link/plan.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "bench/link/text.hpp"
#include "bench/plan.hpp"
#include "core/error.hpp"

namespace leadline::bench::link {
namespace {

/// Ranks without hosts that anybody asks for.
RankLayout all_on_one(int num_ranks, int max_ranks_per_host) { return {num_ranks, max_ranks_per_host, {}}; }

TEST(Plan, CountsRoundsAndRepeats) {
  LinkRequest request;
  request.repeat = 2;
  request.shuffle_ranks = 3;
  EXPECT_EQ(plan(request, all_on_one(1, 1)).num_rounds, 1);
  EXPECT_EQ(plan(request, all_on_one(2, 2)).num_rounds, 1);
  EXPECT_EQ(plan(request, all_on_one(3, 3)).num_rounds, 3);
  EXPECT_EQ(plan(request, all_on_one(8, 8)).num_rounds, 7);
  EXPECT_EQ(plan(request, all_on_one(8, 8)).num_repeats, 6);
  request.serial = true;
  EXPECT_EQ(plan(request, all_on_one(8, 8)).num_rounds, 28);
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
  EXPECT_EQ(plan(request, all_on_one(2, 2)).num_batches, 3u);
  request.num_messages = 1000;
  EXPECT_EQ(plan(request, all_on_one(2, 2)).num_batches, request.num_batches);
}

TEST(Plan, RefusesRoundsThatDoNotExist) {
  LinkRequest request;
  request.only_rounds = {1, 9};
  EXPECT_THROW(plan(request, all_on_one(8, 8)), Error);
}

TEST(Plan, TablesStayWithin72BytesPerPartner) {
  LinkRequest request;
  request.shuffle_ranks = 1;
  const int num_ranks = 1'000'000;
  EXPECT_LE(plan(request, all_on_one(num_ranks, 1)).estimate.table_bytes, 72u * num_ranks);
}

TEST(Plan, CountsTheRoundsOfPartsOfThePairs) {
  const std::vector<std::uint32_t> host_of{0, 0, 1, 1, 2, 2, 3, 3};
  const RankLayout rank_layout{8, 2, host_of};
  LinkRequest request;
  request.bisection = true;
  EXPECT_EQ(plan(request, rank_layout).num_rounds, 4);
  request.between_hosts = true;
  EXPECT_EQ(plan(request, rank_layout).num_rounds, 4);  // two hosts against two: 2 host rounds of 2
  request.bisection = false;
  EXPECT_EQ(plan(request, rank_layout).num_rounds, 6);
  request.between_hosts = false;
  request.one_per_host = true;
  const Plan four = plan(request, rank_layout);
  EXPECT_EQ(four.num_participants, 4);
  EXPECT_EQ(four.num_rounds, 3);
}

TEST(Plan, TakesTheLowestRankOfEachHost) {
  const std::vector<std::uint32_t> host_of{0, 1, 0, 2, 1, 3};
  LinkRequest request;
  request.one_per_host = true;
  EXPECT_EQ(schedule_spec(request, {6, 2, host_of}, 0).participants, (std::vector<std::int32_t>{0, 1, 3, 5}));
}

TEST(Plan, RefusesWhatHasNoPairs) {
  const std::vector<std::uint32_t> one_host{0, 0};
  LinkRequest request;
  request.between_hosts = true;
  EXPECT_THROW(plan(request, {2, 2, one_host}), Error);
  request.between_hosts = false;
  request.bisection = true;
  EXPECT_THROW(plan(request, all_on_one(1, 1)), Error);
}

TEST(Plan, CountsBuffersAndExchangesOfAllWithAll) {
  LinkRequest request;
  request.message_sizes_bytes = {1 << 20};
  request.num_buffers = 5;
  const Plan without = plan(request, all_on_one(4, 4));
  EXPECT_EQ(without.estimate.buffer_bytes, 10u << 20);
  request.all_to_all = AllToAll::around;
  EXPECT_GT(plan(request, all_on_one(4, 4)).estimate.measuring_s, without.estimate.measuring_s);
}

TEST(CheckMemory, NamesWhatIsNeededAndWhatIsThere) {
  LinkRequest request;
  request.message_sizes_bytes = {std::uint64_t{1} << 30};
  const Plan eight = plan(request, all_on_one(8, 8));
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
  const std::string text = bench::link::plan_text(request, plan(request, all_on_one(4, 4)));
  EXPECT_NE(text.find("0-3 1-2"), std::string::npos) << text;
  EXPECT_NE(text.find("0-1 2-3"), std::string::npos) << text;
}

TEST(Plan, FilesOf256MegabytesAndMoreAreCompact) {
  LinkRequest request;
  request.message_sizes_bytes = {1024};
  const auto statistics = [&](int num_ranks) { return plan(request, all_on_one(num_ranks, 8)).estimate.statistics; };
  EXPECT_EQ(statistics(2130), PairStatistics::full);
  EXPECT_EQ(statistics(2145), PairStatistics::compact);
  request.repeat = 4;
  EXPECT_EQ(statistics(1060), PairStatistics::full);
  EXPECT_EQ(statistics(1075), PairStatistics::compact);
  request.statistics = PairStatistics::full;
  EXPECT_EQ(statistics(1160), PairStatistics::full);
  request.statistics = PairStatistics::automatic;
  request.format = ResultFormat::sion;
  EXPECT_EQ(statistics(1160), PairStatistics::automatic) << "it has one form";
}

TEST(Plan, APairTakes56BytesOfAFileOr4) {
  LinkRequest request;
  request.message_sizes_bytes = {1024};
  const std::uint64_t ranks = 30'000;
  const auto file_bytes = [&] {
    return static_cast<double>(plan(request, all_on_one(static_cast<int>(ranks), 8)).estimate.file_bytes);
  };
  EXPECT_NEAR(file_bytes() / (4.0 * ranks * ranks), 1, 0.01);
  request.message_sizes_bytes = {8, 64};
  EXPECT_NEAR(file_bytes() / (8.0 * ranks * ranks), 1, 0.01);
  request.statistics = PairStatistics::full;
  EXPECT_NEAR(file_bytes() / (108.0 * ranks * ranks), 1, 0.01);
}

TEST(PlanText, WalksAllRoundsOfOneOfManyRanks) {
  LinkRequest request;
  const std::string text = bench::link::plan_text(request, plan(request, all_on_one(1 << 20, 1)));
  EXPECT_NE(text.find("1048575 rounds walked: 1048575 partners"), std::string::npos) << text;
}

TEST(PlanText, OfABudgetTellsWhatFitsIntoItWhateverTheNumberOfRanks) {
  LinkRequest request;
  request.budget_s = 60;
  std::vector<std::uint32_t> hosts(1 << 20);
  std::iota(hosts.begin(), hosts.end(), 0);
  const Plan million = plan(request, {1 << 20, 1, hosts});
  EXPECT_LE(million.estimate.measuring_s, 60);
  EXPECT_GT(million.estimate.measuring_s, 40);
  EXPECT_LT(million.estimate.num_rounds, million.num_rounds);
  const std::string text = bench::link::plan_text(request, million);
  EXPECT_NE(text.find("Random rounds until 42.0 s of 60.0 s are over: about 96, at most 4152\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("walked"), std::string::npos);
  EXPECT_NEAR(static_cast<double>(million.estimate.file_bytes) / (4.0 * 2 * 4152 * (1 << 20)), 1, 0.01)
      << "the file has room for the rounds that there can be, not for all pairs";

  const std::vector<std::uint32_t> same_host(8);
  const RankLayout on_one{8, 8, same_host};
  const Plan few = plan(request, on_one);
  EXPECT_EQ(few.estimate.num_rounds, few.num_rounds);
  request.num_messages = 1'000'000'000;
  EXPECT_EQ(plan(request, on_one).estimate.num_rounds, budget_rounds_min) << "they are run in any case";
}

}  // namespace
}  // namespace leadline::bench::link
