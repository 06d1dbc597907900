// SPDX-License-Identifier: Apache-2.0
// What all ranks write of a congestion test is what the HDF5 library, our reader, and the texts have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/congestion/hdf5_reader.hpp"
#include "bench/congestion/hdf5_store.hpp"
#include "bench/congestion/json.hpp"
#include "bench/congestion/plan.hpp"
#include "bench/congestion/result_fixture.hpp"
#include "bench/congestion/text.hpp"

namespace leadline::test::congestion_file_test {
namespace {

using bench::congestion::CongestionResult;
using bench::congestion::Hdf5Reader;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CongestionFiles : public testing::Test {
 protected:
  std::string written() {
    const std::string path = folder_ / "run.h5";
    EXPECT_THAT(run_ranks({5}, [&](auto& cluster) { write_congestion(cluster, run_setup_for(cluster, path)); }),
                Each(""));
    return path;
  }

  Folder folder_;
};

TEST_F(CongestionFiles, TablesHaveWhatRanksWrote) {
  const Reader reader(written());
  EXPECT_THAT(reader.ints("/congestion/victims"), ElementsAre(1, 3));
  EXPECT_THAT(reader.ints("/congestion/cell_load"), ElementsAre(-1, 0, 0));
  EXPECT_THAT(reader.ints("/congestion/cell_intensity_percent"), ElementsAre(0, 50, 100));
  std::vector<double> rounds, victims;
  for (std::size_t cell = 0; cell < 3; ++cell) {
    for (std::size_t test = 0; test < 3; ++test) {
      for (std::size_t place = 0; place < 2; ++place) {
        rounds.push_back(congestion_times(cell, test, place, 1).p99);
        victims.push_back(congestion_times(cell, test, place, 2).median);
      }
    }
  }
  EXPECT_EQ(reader.doubles("/congestion/rounds/loaded_time_ns_p99"), rounds);
  EXPECT_EQ(reader.doubles("/congestion/victim_times/alone_time_ns_median"), victims);
  EXPECT_THAT(reader.doubles("/congestion/load/bytes_per_s"), ElementsAre(0, 1, 1e6, 1e6 + 1, 2e6, 2e6 + 1));
}

TEST_F(CongestionFiles, AreReadAgain) {
  const Hdf5Reader reader(written());
  EXPECT_THAT(reader.header().loads, ElementsAre("incast"));
  EXPECT_EQ(reader.name_of_cell(0), "no load");
  EXPECT_EQ(reader.name_of_cell(2), "incast 100 %");
  EXPECT_EQ(reader.num_rounds_measured(), 2);
  EXPECT_THAT(reader.by_round("loaded_time_ns_median", 2, bench::congestion::Test::bandwidth),
              ElementsAre(210'001.2, 211'001.2));
  const auto impacts = kept_impacts(reader.header(), reader.path());
  ASSERT_EQ(impacts.size(), 10u);
  EXPECT_EQ(impacts[8].named.load, "incast");
  EXPECT_EQ(impacts[8].test, bench::congestion::Test::allreduce);
  EXPECT_DOUBLE_EQ(impacts[8].p99.estimate, 20);
  EXPECT_TRUE(std::isnan(impacts[8].p999.estimate));
  EXPECT_EQ(impacts[9].shared, bench::congestion::Shared::host);
}

TEST_F(CongestionFiles, AreTold) {
  const auto info = info_of(Hdf5Reader(written()));
  EXPECT_THAT(info.text, AllOf(HasSubstr("congestion test, format 1"), HasSubstr("2 ranks; 3 ranks load the network"),
                               HasSubstr("2 of 2"), HasSubstr("incast 100 %"), HasSubstr("18 to 22")));
  const auto numbers = bench::congestion::numbers_of(folder_ / "run.h5");
  ASSERT_EQ(numbers.numbers.size(), 3u * 3 * 2);
  EXPECT_EQ(numbers.numbers.front().name, "latency median, no load");
  EXPECT_EQ(numbers.numbers.back().name, "allreduce p99, incast 100 %");
}

TEST_F(CongestionFiles, OfARunWithoutAnEndHaveItsRounds) {
  const std::string path = folder_ / "run.h5";
  run_ranks({5}, [&](auto& cluster) {
    const auto file = open_congestion_file(cluster, congestion_so_far(), run_setup_for(cluster, path));
    write_rounds(*file, cluster);
    cluster.barrier();
  });
  const Hdf5Reader reader(path);
  EXPECT_EQ(reader.num_rounds_measured(), 2);
  EXPECT_THAT(kept_impacts(reader.header(), path), testing::IsEmpty());
  EXPECT_THAT(info_of(reader).text, HasSubstr("No impacts: the run ended before its summary was written"));
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return bench::congestion::numbers_of(path); }),
              HasSubstr("before its summary was written"));
}

TEST(CongestionText, SaysFirstWhatGrowsMost) {
  CongestionResult result = finished(congestion_so_far());
  EXPECT_EQ(verdict_text(result),
            "under incast 100 % the 99 % quantile of latency is 20 times as long as alone (95 % interval 18 to 22)\n");
  const std::string text = congestion_summary(result, "run.h5");
  EXPECT_THAT(text, AllOf(HasSubstr("victims: 1"), HasSubstr("3 ranks load the network; 2 rounds\n"),
                          HasSubstr("latency: 8 B"), HasSubstr("allreduce: 8 B"), HasSubstr("by what messages share"),
                          HasSubstr("0.900"), HasSubstr("2.000 ms"), HasSubstr("next:   leadline report run.h5")));
  result.request.rounds = 10;
  EXPECT_THAT(congestion_summary(result, ""), HasSubstr("; 2 of 10 rounds\n"));
  for (auto& impact : result.impacts) impact.median = impact.p99 = {1.1, 0.9, 1.3};
  EXPECT_THAT(verdict_text(result), HasSubstr("no load surely makes"));
  result.impacts.clear();
  EXPECT_EQ(verdict_text(result), "nothing was measured\n");
}

TEST(CongestionText, NoLoadIsNeverTheWorst) {
  CongestionResult result = finished(congestion_so_far());
  result.impacts.resize(3);  // of no load, all of them far above 1
  EXPECT_FALSE(worst_of(result));
}

TEST(CongestionText, ThePlanSaysWhoAndHowLong) {
  const bench::congestion::CongestionRequest request;
  const std::vector<std::uint32_t> host_of{0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
  const auto plan = bench::congestion::plan(request, {10, 2, host_of}, std::vector<bool>(10, false));
  const std::string text = congestion_plan_text(request, plan);
  EXPECT_THAT(text, AllOf(HasSubstr("Congestion test of 10 ranks: 4 victims ("), HasSubstr("6 ranks load the network"),
                          HasSubstr("10 rounds"), HasSubstr("no load, incast 25 %, incast 50 %, incast 100 %\n"),
                          HasSubstr("latency every 100.0 us"), HasSubstr("Time: "), Not(HasSubstr(",\n"))));
}

}  // namespace
}  // namespace leadline::test::congestion_file_test
