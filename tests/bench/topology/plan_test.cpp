// SPDX-License-Identifier: Apache-2.0
// The topology test's plan: its topologies and cells, buffers, cost, and what does not fit.
#include "bench/topology/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "result/hdf5/run_file.hpp"

namespace leadline::bench::topology {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

RankLayout all_on_one(int num_ranks) { return {num_ranks, num_ranks, {}}; }

TopologyRequest request_of(std::vector<std::string> topologies) {
  TopologyRequest request;
  request.patterns = std::move(topologies);
  return request;
}

Plan plan_of(std::vector<std::string> topologies, int num_ranks) {
  return plan(request_of(std::move(topologies)), all_on_one(num_ranks), "");
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const TopologyFacts& facts : facts_of(plan)) names.push_back(facts.name);
  return names;
}

std::string complaint(const TopologyRequest& request, int num_ranks, const std::string& edges = {}) {
  try {
    plan(request, all_on_one(num_ranks), edges);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

TEST(TopologyPlan, HasNettestsSixUnlessOthersAreAskedFor) {
  const Plan six = plan(TopologyRequest{}, all_on_one(4), "");
  EXPECT_THAT(names_of(six), ElementsAre("star", "star2", "complete", "complete2", "ring", "ring2"));
  EXPECT_THAT(names_of(plan_of({"tree", "chaos", "star2-each"}, 3)),
              ElementsAre("tree", "chaos", "star2:0", "star2:1", "star2:2"));
}

TEST(TopologyPlan, GoesThroughRepeatsThenSizesThenTopologies) {
  TopologyRequest request = request_of({"star", "ring"});
  request.message_sizes_bytes = {8, 1024};
  request.repeat = 2;
  const Plan both = plan(request, all_on_one(4), "");
  ASSERT_THAT(both.cells, SizeIs(8));
  std::size_t index = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int size_index = 0; size_index < 2; ++size_index) {
      for (int topology_index = 0; topology_index < 2; ++topology_index) {
        const Cell& cell = both.cells[index++];
        EXPECT_EQ(cell.repeat, repeat);
        EXPECT_EQ(cell.size_index, size_index);
        EXPECT_EQ(cell.topology_index, topology_index);
        EXPECT_EQ(cell.message_size_bytes, request.message_sizes_bytes[static_cast<std::size_t>(size_index)]);
      }
    }
  }
}

TEST(TopologyPlan, SaysWhatItsTopologiesAre) {
  TopologyRequest request = request_of({"star", "complete2", "torus-2d", "incast:2"});
  request.mode = schedule::ChannelMode::answered;
  const std::vector<TopologyFacts> facts = facts_of(plan(request, all_on_one(12), ""));
  ASSERT_THAT(facts, SizeIs(4));
  EXPECT_EQ(facts[0].mode, schedule::ChannelMode::answered);
  EXPECT_EQ(facts[0].num_channels, 11);
  EXPECT_EQ(facts[0].max_channels_rank, 11);
  EXPECT_THAT(facts[0].extents, IsEmpty());
  EXPECT_EQ(facts[1].shape, schedule::Shape::complete);
  EXPECT_EQ(facts[1].mode, schedule::ChannelMode::both_ways);
  EXPECT_EQ(facts[1].num_channels, 66);
  EXPECT_EQ(facts[2].mode, schedule::ChannelMode::answered);
  EXPECT_EQ(facts[2].max_channels_rank, 4);
  EXPECT_THAT(facts[2].extents, ElementsAre(4, 3));
  EXPECT_EQ(facts[3].mode, schedule::ChannelMode::one_way);
  EXPECT_EQ(facts[3].num_channels, 20);
  EXPECT_EQ(facts[3].max_channels_rank, 10);
}

TEST(TopologyPlan, NamesListedEdgesAfterTheirFile) {
  TopologyRequest request = request_of({});
  request.edges_file = "some/where/cables.txt";
  request.mode = schedule::ChannelMode::one_way;
  const Plan alone = plan(request, all_on_one(4), "0 1\n2 3\n1 2\n");
  const std::vector<TopologyFacts> facts = facts_of(alone);
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(facts[0].name, "cables.txt");
  EXPECT_EQ(facts[0].shape, schedule::Shape::edges);
  EXPECT_EQ(facts[0].mode, schedule::ChannelMode::one_way);
  EXPECT_EQ(facts[0].num_channels, 3);
  EXPECT_EQ(facts[0].max_channels_rank, 2);
  request.patterns = {"ring"};
  EXPECT_THAT(names_of(plan(request, all_on_one(4), "0 1\n")), ElementsAre("ring", "cables.txt"));
}

TEST(TopologyPlan, RefusesOneThatIsAskedForTwice) {
  EXPECT_THAT(complaint(request_of({"ring", "star", "ring"}), 4), HasSubstr("the pattern ring is asked for twice"));
  EXPECT_THAT(complaint(request_of({"complete", "chaos"}), 4),
              AllOf(HasSubstr("chaos is asked for twice"), HasSubstr("the same as complete")));
  EXPECT_THAT(complaint(request_of({"chaos2", "complete2"}), 4), HasSubstr("the same as chaos2"));
  EXPECT_THAT(complaint(request_of({"star", "star-each"}), 4), HasSubstr("the same as star)"));
  EXPECT_THAT(complaint(request_of({"torus:4x3", "torus-2d"}), 12), HasSubstr("the same as torus:4x3"));
  EXPECT_THAT(complaint(request_of({"incast", "incast:1"}), 4), HasSubstr("the same as incast)"));
  EXPECT_EQ(complaint(request_of({"star", "star2", "star:1", "incast", "outcast", "torus:3x4", "torus-2d"}), 12), "");
  TopologyRequest request = request_of({"ring"});
  request.edges_file = "lists/ring";
  EXPECT_THAT(complaint(request, 4, "0 1"), AllOf(HasSubstr("ring is asked for twice"), HasSubstr("--edges")));
}

TEST(TopologyPlan, RefusesWhatSoManyRanksCannotForm) {
  EXPECT_THAT(complaint(TopologyRequest{}, 1), HasSubstr("Start at least 2 ranks"));
  EXPECT_THAT(complaint(request_of({"ring", "hypercube"}), 6), HasSubstr("hypercube"));
  EXPECT_THAT(complaint(request_of({"star:9"}), 4), HasSubstr("star:9"));
  EXPECT_THAT(complaint(request_of({"rings"}), 4), HasSubstr("--pattern cannot be 'rings'"));
  EXPECT_THAT(complaint(request_of({}), 4), HasSubstr("no pattern"));
  TopologyRequest request = request_of({});
  request.edges_file = "cables.txt";
  EXPECT_THAT(complaint(request, 4, "0 1\n1 4\n"), HasSubstr("cables.txt line 2"));
  EXPECT_THAT(complaint(request, 4, ""), HasSubstr("cables.txt has no edge"));
}

TEST(TopologySlots, AreAsManyAsMayBeUnderWayAtOnce) {
  TopologyRequest request = request_of({"star", "ring", "incast:2"});
  const Plan plan_of_eight = plan(request, all_on_one(8), "");
  const auto slots_of = [&](int rank) { return num_slots(request, plan_of_eight, rank); };
  EXPECT_EQ(slots_of(0), 7u);
  EXPECT_EQ(slots_of(1), 6u);
  EXPECT_EQ(slots_of(7), 2u);
  request.max_outstanding = 4;
  EXPECT_EQ(slots_of(0), 4u);
  EXPECT_EQ(slots_of(7), 2u);
  request.shared_buffers = true;
  EXPECT_EQ(slots_of(0), 1u);
  EXPECT_EQ(slots_of(7), 1u);
}

TEST(TopologySlots, AreOneAChannelWhereBytesAreChecked) {
  TopologyRequest request = request_of({"complete"});
  request.max_outstanding = 2;
  const Plan plan_of_eight = plan(request, all_on_one(8), "");
  EXPECT_EQ(num_slots(request, plan_of_eight, 3), 2u);
  request.verify = true;
  EXPECT_EQ(num_slots(request, plan_of_eight, 3), 7u);
  request.verify = false;
  request.duration_s = 60;
  EXPECT_EQ(num_slots(request, plan_of_eight, 3), 7u);
}

TEST(TopologySlots, AreNoneWithoutChannels) {
  TopologyRequest request = request_of({"halves"});
  const Plan odd = plan(request, all_on_one(5), "");
  for (const bool shared : {false, true}) {
    request.shared_buffers = shared;
    EXPECT_EQ(num_slots(request, odd, 0), 1u);
    EXPECT_EQ(num_slots(request, odd, 4), 0u);
  }
}

TEST(TopologyEstimate, CountsTheBuffersOfTheBusiestRank) {
  TopologyRequest request = request_of({"ring", "star"});
  request.message_sizes_bytes = {1024, mebi};
  EXPECT_EQ(plan(request, all_on_one(9), "").estimate.buffer_bytes, 2 * 8 * mebi);
  request.max_outstanding = 3;
  EXPECT_EQ(plan(request, all_on_one(9), "").estimate.buffer_bytes, 2 * 3 * mebi);
  request.shared_buffers = true;
  EXPECT_EQ(plan(request, all_on_one(9), "").estimate.buffer_bytes, 2 * mebi);
}

// 16 ranks, 4 on a host: the centre with 15 channels, and three with one.
TEST(TopologyEstimate, CountsAHostWithTheRanksThatNeedMost) {
  TopologyRequest request = request_of({"star2"});
  request.message_sizes_bytes = {mebi};
  const Estimate estimate = plan(request, {16, 4, {}}, "").estimate;
  const double buffers = 2.0 * (15 + 3) * mebi;
  EXPECT_GE(estimate.host_bytes, buffers);
  EXPECT_LE(estimate.host_bytes, buffers + 4 * static_cast<double>(estimate.table_bytes));
}

TEST(TopologyEstimate, TablesGrowWithExchangesAndChannels) {
  TopologyRequest request = request_of({"complete2"});
  const auto tables = [&](int num_ranks) { return plan(request, all_on_one(num_ranks), "").estimate.table_bytes; };
  const std::uint64_t few = tables(8);
  EXPECT_GE(tables(1008) - few, 1000 * request.num_traced * sizeof(double));
  request.num_iterations += 1'000'000;
  EXPECT_GE(tables(8) - few, 16'000'000u);
  request.duration_s = 60;
  EXPECT_LE(tables(8), 10 * mebi);
}

TEST(TopologyEstimate, CountsTheMatricesOfTheFile) {
  TopologyRequest request = request_of({"ring"});
  request.message_sizes_bytes = {8, 16, 32};
  request.repeat = 2;
  const auto bytes_with = [&](int ranks) { return plan(request, all_on_one(ranks), "").estimate.file_bytes; };
  const std::uint64_t more_ranks = 100, more_ends = 200, cells = 6;  // too few to pack their places
  const std::uint64_t more = 332 * more_ranks + 8 * more_ranks + 5 * more_ends;
  EXPECT_EQ(bytes_with(110) - bytes_with(10), more + cells * (8 * more_ends + 5 * 8 * more_ranks));
  request.duration_s = 60;
  EXPECT_EQ(bytes_with(110) - bytes_with(10), more);
}

TEST(TopologyEstimate, TakesLittleForThePlacesOfManyRanks) {
  EXPECT_EQ(result::hdf5::bytes_of_places(100), 332.0 * 100);
  EXPECT_LT(result::hdf5::bytes_of_places(1 << 20), 4.0 * (1 << 20));
}

TEST(TopologyEstimate, CountsTheTimeOfTheBusiestRank) {
  TopologyRequest request = request_of({"star2"});
  request.message_sizes_bytes = {mebi};
  request.num_warmup = 0;
  request.num_traced = 0;
  request.num_iterations = 10;
  const Estimate estimate = plan(request, all_on_one(9), "").estimate;
  // 8 messages of 10 us + 1 MiB at 1 GiB/s, and two barriers of 4 steps of 10 us.
  EXPECT_DOUBLE_EQ(estimate.measuring_s, 10 * (8 * (10e-6 + 1.0 / 1024) + 2 * 4 * 10e-6));
  request.verify = true;
  EXPECT_DOUBLE_EQ(plan(request, all_on_one(9), "").estimate.measuring_s, 2 * estimate.measuring_s);
  request.verify = false;
  request.repeat = 3;
  EXPECT_DOUBLE_EQ(plan(request, all_on_one(9), "").estimate.measuring_s, 3 * estimate.measuring_s);
  request.duration_s = 60;
  EXPECT_EQ(plan(request, all_on_one(9), "").estimate.measuring_s, 60);
}

TEST(TopologyEstimate, GoesThereAndBackWhereMessagesAreAnswered) {
  TopologyRequest request = request_of({"ring"});
  request.message_sizes_bytes = {64 * mebi};
  const double phased_s = plan(request, all_on_one(4), "").estimate.measuring_s;
  request.patterns = {"ring2"};
  EXPECT_NEAR(phased_s / plan(request, all_on_one(4), "").estimate.measuring_s, 2, 0.01);
}

TEST(TopologyMemory, SaysWhatWouldHelp) {
  TopologyRequest request = request_of({"complete2"});
  request.message_sizes_bytes = {std::uint64_t{1} << 30};
  const Plan five = plan(request, all_on_one(5), "");
  EXPECT_NO_THROW(check_memory(five, std::uint64_t{41} << 30));
  try {
    check_memory(five, std::uint64_t{39} << 30);
    FAIL() << "it does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("5 ranks on a host need 40.0 GiB"), HasSubstr("39.0 GiB are free"),
                                    HasSubstr("--shared-buffers"), HasSubstr("--max-outstanding")));
  }
}

TEST(TopologyMemory, IsNeverEnoughForWhatCannotBeCounted) {
  TopologyRequest request = request_of({"complete2"});
  request.message_sizes_bytes = {std::uint64_t{1} << 62};
  const Plan huge = plan(request, all_on_one(64), "");
  EXPECT_EQ(huge.estimate.buffer_bytes, UINT64_MAX);
  EXPECT_THROW(check_memory(huge, UINT64_MAX), Error);
}

}  // namespace
}  // namespace leadline::bench::topology
