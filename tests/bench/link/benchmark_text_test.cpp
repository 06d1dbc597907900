// SPDX-License-Identifier: Apache-2.0
// What other benchmarks print: samples that they printed here, the formats of those that need hardware, and texts that
// are cut off or something else.
#include "bench/link/benchmark_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include "bench/link/text_reader.hpp"
#include "core/error.hpp"
#include "support/folder.hpp"

namespace leadline::bench::link::benchmark_text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string samples = SAMPLES "texts/";

class BenchmarkTexts : public testing::Test {
 protected:
  std::string written(const std::string& text) {
    const std::string path = folder_ / "text";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  BenchmarkText read(const std::string& text) { return read_benchmark_text(written(text)); }
  Error refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "taken: " << text;
    return {ExitStatus::ok, ""};
  }

 private:
  test::Folder folder_;
};

const std::string perftest_latency =
    "                    Send Latency Test\n"
    " Connection type : RC\n"
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec] \n"
    " 2       1000          1.25           9.50         1.50                1.75             0.25            2.00    "
    "        8.00   \n"
    "---------------------------------------------------------------------------------------\n";

TEST_F(BenchmarkTexts, PerftestHasStatisticsOfItsLatencies) {
  const BenchmarkText text = read(perftest_latency);
  EXPECT_EQ(text.program, "perftest: Send Latency Test");
  EXPECT_EQ(text.transport, "verbs");
  EXPECT_EQ(text.direction, Direction::semidirectional);
  EXPECT_EQ(text.num_messages, 1000u);
  EXPECT_THAT(text.message_sizes_bytes, ElementsAre(2));
  const PairRecord& record = text.pair.at(0);
  EXPECT_EQ(record.time_ns_min, 1250);
  EXPECT_EQ(record.time_ns_median, 1500);
  EXPECT_EQ(record.time_ns_mean, 1750);
  EXPECT_EQ(record.time_ns_p99, 2000);
  EXPECT_EQ(record.time_ns_p999, 8000);
  EXPECT_EQ(record.time_ns_max, 9500);
}

TEST_F(BenchmarkTexts, PerftestHasBandwidthsInMebibytesOrGigabits) {
  const auto time_ns = [&](const std::string& title, const std::string& unit, const std::string& row) {
    return read("      " + title + "\n #bytes     #iterations    BW peak[" + unit + "]    BW average[" + unit +
                "]   MsgRate[Mpps]\n" + row + "\n----\n")
        .pair.at(0)
        .time_ns_median;
  };
  EXPECT_DOUBLE_EQ(time_ns("RDMA_Write BW Test", "MB/sec", " 65536  5000  0.00  1000.00  0.016"), 62'500);
  EXPECT_DOUBLE_EQ(time_ns("RDMA_Write BW Test", "Gb/sec", " 65536  5000  0.00  8.00  0.016"), 65'536);
  EXPECT_DOUBLE_EQ(time_ns("RDMA_Write Bidirectional BW Test", "MB/sec", " 65536  5000  0.00  1000.00  0.016"), 125'000)
      << "both directions are in its number";
}

const std::string nccl_head =
    "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
    "# Collective test starting: sendrecv_perf\n"
    "# Using devices\n";
const std::string nccl_table =
    "#                                                    out-of-place                       in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n"
    "     1048576        262144     float     sum      -1    50.00   20.97   20.97       0    51.00   20.56   20.56  "
    "N/A\n"
    "# Avg bus bandwidth    : 20.7 \n";

std::string nccl_rank(int rank, const std::string& host) {
  return "#  Rank  " + std::to_string(rank) + " Group  0 Pid  12345 on " + host + " device  0 [0000:1b:00] A100\n";
}

TEST_F(BenchmarkTexts, NcclTestsSendBothWaysBetweenTwoRanks) {
  const BenchmarkText text = read(nccl_head + nccl_rank(0, "n01") + nccl_rank(1, "n02") + nccl_table);
  EXPECT_EQ(text.transport, "nccl");
  EXPECT_EQ(text.direction, Direction::bidirectional);
  EXPECT_THAT(text.hosts, ElementsAre("n01", "n02"));
  EXPECT_THAT(text.message_sizes_bytes, ElementsAre(1 << 20));
  EXPECT_DOUBLE_EQ(text.pair.at(0).time_ns_median, 50'000);
  EXPECT_THAT(text.incomplete_reason, IsEmpty());
}

TEST_F(BenchmarkTexts, NcclTestsOfMoreRanksOrOtherCollectivesAreNoPair) {
  const std::string three = nccl_rank(0, "a") + nccl_rank(1, "b") + nccl_rank(2, "c");
  EXPECT_THAT(refusal(nccl_head + three + nccl_table).what(), HasSubstr("3 ranks"));
  const std::string two = nccl_rank(0, "a") + nccl_rank(1, "b");
  EXPECT_THAT(refusal("# Using devices\n" + two + nccl_table).what(), HasSubstr("sendrecv_perf"));
}

TEST_F(BenchmarkTexts, SeveralPairsAtOnceAreNoPair) {
  const std::string rates =
      "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: 2 ] [ window size: 64 ]\n";
  EXPECT_THAT(refusal(rates + "# Size  MB/s  Messages/s\n1 5.0 5000000.0\n").what(), HasSubstr("several pairs"));
  EXPECT_THAT(refusal("# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n1 5.0\n").what(),
              HasSubstr("Allreduce"));
  EXPECT_THAT(refusal("# Benchmarking Allreduce \n# #processes = 2 \n").what(), HasSubstr("Allreduce"));
}

TEST_F(BenchmarkTexts, SomethingElseIsNamedWithWhatCanBeRead) {
  for (const char* const other : {"hello\n", "1 2 3\n",
                                  "\x7f"
                                  "ELF\n"}) {
    const Error error = refusal(other);
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.what(), HasSubstr("mpiGraph"));
    EXPECT_THAT(error.what(), HasSubstr("neither HDF5 nor SION"));
  }
  EXPECT_THAT(refusal(std::string("# OSU MPI Latency Test\0", 23)).what(), HasSubstr("neither HDF5 nor SION"));
}

TEST_F(BenchmarkTexts, OfOsuAreHalfRoundTripsOrBandwidthsIn1000000Bytes) {
  const BenchmarkText latency = read_benchmark_text(samples + "osu_latency.txt");
  EXPECT_THAT(latency.program, HasSubstr("OSU MPI Latency Test"));
  EXPECT_EQ(latency.direction, Direction::semidirectional);
  EXPECT_EQ(latency.message_sizes_bytes.size(), latency.pair.size());
  EXPECT_EQ(latency.message_sizes_bytes.back(), 4u << 20);
  EXPECT_EQ(read_benchmark_text(samples + "osu_bw.txt").direction, Direction::unidirectional);
  EXPECT_EQ(read_benchmark_text(samples + "osu_bibw.txt").direction, Direction::bidirectional);

  const std::string table = "# Size      Bandwidth (MB/s)\n1000   200.00\n";
  EXPECT_DOUBLE_EQ(read("# OSU MPI Bandwidth Test v5.9\n" + table).pair.at(0).time_ns_median, 5000);
  EXPECT_DOUBLE_EQ(read("# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.4\n# Send Buffer on DEVICE (D)\n" + table)
                       .pair.at(0)
                       .time_ns_median,
                   10'000);
  EXPECT_DOUBLE_EQ(read("# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size  Avg Latency(us)\n8  0.25\n\n")
                       .pair.at(0)
                       .time_ns_median,
                   250);
}

TEST_F(BenchmarkTexts, ASizeWithoutANumberIsLeftOut) {
  const BenchmarkText text = read("# OSU MPI Bandwidth Test v5.9\n# Size  Bandwidth (MB/s)\n1  0.00\n2  0.01\n");
  EXPECT_THAT(text.message_sizes_bytes, ElementsAre(2));
  EXPECT_THAT(text.left_out, ElementsAre(HasSubstr("(1 bytes)")));
}

TEST_F(BenchmarkTexts, OfImbHaveTheirFirstPair) {
  const BenchmarkText text = read_benchmark_text(samples + "imb.txt");
  EXPECT_EQ(text.program, "IMB PingPong");
  EXPECT_EQ(text.message_sizes_bytes.front(), 0u);
  EXPECT_EQ(text.num_messages, 1000u);
  EXPECT_THAT(text.left_out, ElementsAre(HasSubstr("PingPing")));
  EXPECT_THAT(text.incomplete_reason, IsEmpty());
}

TEST_F(BenchmarkTexts, OfMpiGraphAreAMatrixWithHosts) {
  TextReader reader(samples + "mpigraph.txt");
  EXPECT_EQ(reader.header().num_ranks, 4);
  EXPECT_TRUE(reader.header().complete);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    const PairRow row = reader.row(0, 0, rank);
    for (std::size_t partner = 0; partner < 4; ++partner) {
      EXPECT_EQ(row[&PairRecord::count][partner], std::cmp_equal(partner, rank) ? 0u : 1u);
    }
    EXPECT_FALSE(reader.placement(rank).host.empty());
  }
  EXPECT_THAT(reader.rounds(0, 1), ElementsAre(3, 0, 1, 2));
  EXPECT_THAT(reader.left_out(), ElementsAre(HasSubstr("receivers")));
  const std::string two =
      "START mpiGraph v1.5\nMsgSize\t1048576\nTimes\t10\nWindow\t5\nProcs\t2\n\n1 of 2 (50.0%)\nGathering results\n\n"
      "Send\ta:0\tb:1\t\na:0 to\t0.000\t1000.000\t\nb:1 to\t500.000\t0.000\t\n\nEND mpiGraph\n";
  const BenchmarkText text = read(two);
  EXPECT_THAT(text.matrix_ns, ElementsAre(0, 1e6, 2e6, 0));
  EXPECT_THAT(text.hosts, ElementsAre("a", "b"));
  EXPECT_EQ(text.num_messages, 50u);
}

/// Wherever it ends: a clear line, or a result that says that it is not whole.
TEST_F(BenchmarkTexts, ThatAreCutOffAreRefusedOrIncomplete) {
  for (const char* const name : {"osu_latency.txt", "imb.txt", "mpigraph.txt"}) {
    const std::string whole = test::contents_of(samples + name);
    for (std::size_t size = 1; size < whole.size(); size += 7) {
      try {
        read(whole.substr(0, size));
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("cannot convert")) << name << " of " << size;
      }
    }
  }
  const std::string graph = test::contents_of(samples + "mpigraph.txt");
  const Error error = refusal(graph.substr(0, graph.find("Send max") + 200));
  EXPECT_EQ(error.status(), ExitStatus::run_failed);
  EXPECT_THAT(error.what(), HasSubstr("cut off"));
  EXPECT_FALSE(read(graph.substr(0, graph.find("END"))).incomplete_reason.empty());
  EXPECT_THAT(refusal("# OSU MPI Latency Test v7.4\n# Size  Avg Latency(us)\n8  0.25\n16\n").what(),
              HasSubstr("line 4 has 1 of 2 columns"));
  EXPECT_THAT(refusal("# OSU MPI Latency Test v7.4\n").what(), HasSubstr("no table"));
  EXPECT_THAT(refusal("# OSU MPI Latency Test v7.4\n# Size  Avg Latency(us)\n8  0.25\n16  0.2").what(),
              HasSubstr("line 4, its last one, has no end"));
}

}  // namespace
}  // namespace leadline::bench::link::benchmark_text_test
