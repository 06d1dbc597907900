// SPDX-License-Identifier: Apache-2.0
// The text of `mpi_io_test.x`: with the times of the guide's sample come the guide's bandwidths, to the last digit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "compat/mpi_io_test/options.hpp"
#include "compat/mpi_io_test/text.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

bench::io::RankSpread spread(double min_s, int min_rank, double mean_s, double max_s, int max_rank,
                             std::uint64_t num = 144) {
  return {num, 1e9 * min_s, 1e9 * mean_s, 1e9 * max_s, min_rank, max_rank};
}

/// The guide's second sample: 144 processes, 8192 objects of 64 KiB each.
struct Sample {
  Command command =
      parse({"mpi_io_test.x", "-type", "1", "-nobj", "8192", "-size", "65536", "-target", "/scratch/user/test_file.%r",
             "-touch", "3", "-chkdata", "3", "-output", "./output_nn.txt", "-deletefile"},
            {});
  bench::io::IoResult so_far;
  bench::io::PhaseSummary write;

  Sample() {
    describe();
    write.is_complete = true;
    write.bytes = std::uint64_t{144} * 8192 * 65536;
    write.io = spread(2.772675e+01, 0, 3.560656e+01, 4.140479e+01, 69);
    write.transfer = spread(2.339119e+01, 90, 3.132614e+01, 3.707185e+01, 140);
    set(bench::io::IoTime::open, spread(9.945100e-02, 0, 2.371871e+00, 6.845830e+00, 112));
    set(bench::io::IoTime::call, spread(2.077227e+01, 90, 2.880994e+01, 3.437072e+01, 140));
    set(bench::io::IoTime::preallocate, spread(1.000000e-06, 124, 1.125000e-06, 2.000000e-06, 119));
    set(bench::io::IoTime::close, spread(3.256570e-01, 37, 1.908540e+00, 3.916407e+00, 39));
  }

  void set(bench::io::IoTime time, const bench::io::RankSpread& of) {
    write.times[static_cast<std::size_t>(time)] = of;
  }

  void take(const std::vector<std::string>& words) {
    command = parse(words, {});
    describe();
  }

  void describe() {
    so_far.request = command.request;
    so_far.provenance.version = "9.8.7";
    so_far.provenance.start_utc = "2026-01-31T23:59:59Z";
    so_far.provenance.num_ranks = 144;
    so_far.backend_library = "Open MPI v4.1.4 (ompio)";
    so_far.hosts = {{"a", "0-71"}, {"b", "72-143"}};
    so_far.io_ranks.assign(144, 0);
    so_far.files.assign(144, "/scratch/user/test_file.0");
  }

  std::string lines() const { return phase_lines(command.shown, so_far, write); }
  std::string head(const std::map<std::string, std::string>& environment = {}) const {
    return opening(command.shown, so_far, [&](const char* name) -> const char* {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  }
};

TEST(MpiIoTestText, HasTheGuidesNumbersFromTheGuidesTimes) {
  EXPECT_EQ(
      Sample().lines(),
      "=== Effective Bandwidth (min [rank] avg max [rank]): 1.780664e+03 [69] 2.070630e+03 2.659093e+03 [0] Mbytes/s.\n"
      "=== Total Time (min [rank] avg max [rank]): 2.772675e+01 [0] 3.560656e+01 4.140479e+01 [69] sec.\n"
      "=== Write Bandwidth (min [rank] avg max [rank]): 1.988787e+03 [140] 2.353562e+03 3.151956e+03 [90] Mbytes/s.\n"
      "=== Write Time (min [rank] avg max [rank]): 2.339119e+01 [90] 3.132614e+01 3.707185e+01 [140] sec.\n"
      "=== MPI File Open Time (min [rank] avg max [rank]): 9.945100e-02 [0] 2.371871e+00 6.845830e+00 [112] sec.\n"
      "=== MPI File Write Wait Time (min [rank] avg max [rank]): 2.077227e+01 [90] 2.880994e+01 3.437072e+01 [140] "
      "sec.\n"
      "=== MPI File Preallocate Time (min [rank] avg max [rank]): 1.000000e-06 [124] 1.125000e-06 2.000000e-06 [119] "
      "sec.\n"
      "=== MPI File Close Wait Time (min [rank] avg max [rank]): 3.256570e-01 [37] 1.908540e+00 3.916407e+00 [39] "
      "sec.\n"
      "=== Completed MPI-IO Write.\n");
}

TEST(MpiIoTestText, HasTheGuidesParameters) {
  const std::string head = Sample().head();
  EXPECT_THAT(head,
              StartsWith("MPI-IO TEST v1.00.009: 2026-01-31T23:59:59Z\n# measured by Leadline 9.8.7, with Open MPI "
                         "v4.1.4 (ompio) and blocking calls"));
  EXPECT_THAT(head, EndsWith("Input Parameters:\n"
                             "I/O Testing type N -> N: 1\n"
                             "Total number of processors (N): 144\n"
                             "Total number of I/O processors (M): 144\n"
                             "Host Name List: None\n"
                             "Number of circular buffers (-ahead): 0\n"
                             "Number of objects (-nobj): 8192\n"
                             "Number of bytes in each object (-size): 65536\n"
                             "Circular buffer size (-csize): 65536\n"
                             "Preallocate file size (-preallocate): -1\n"
                             "Check data read (-chkdata): 3\n"
                             "Use collective read/write calls (-collective): 0\n"
                             "Call MPI_Barrier before each write (-barrier): 0\n"
                             "Flush data before file close (-sync): 0\n"
                             "Strided data layout (-strided): 0\n"
                             "Delete data file when done reading (-deletefile): 1\n"
                             "Write output data to file (-nofile): 1\n"
                             "Aggregators send data to themselves (-norsend): 1\n"
                             "Test data written to (-target): /scratch/user/test_file.0\n"
                             "Touch object option (-touch): 3\n"
                             "Timing results written to (-output): ./output_nn.txt\n"
                             "Errors and warnings written to (-errout): stderr\n"
                             "Environment Variables (MPI):\n"));
}

TEST(MpiIoTestText, ShowsKnownVariablesAndNoOthers) {
  const std::string head = Sample().head({{"OMPI_MCA_io", "romio321"},
                                          {"ROMIO_HINTS", "/home/h\nOMPI_SECRET=1"},
                                          {"LAMPI_ADMIN_AUTH0", "12345"},
                                          {"MPI_TOKEN", "hunter2"}});
  EXPECT_THAT(head,
              EndsWith("Environment Variables (MPI):\nOMPI_MCA_io=romio321\nROMIO_HINTS=/home/h?OMPI_SECRET=1\n"));
  EXPECT_THAT(head, AllOf(Not(HasSubstr("12345")), Not(HasSubstr("hunter2"))));
}

TEST(MpiIoTestText, NamesEveryType) {
  Sample sample;
  sample.so_far.io_ranks = {0, 72};
  sample.so_far.files = {"/s/a", "/s/b"};
  sample.take({"x", "-type", "3", "-size", "8", "-num_io", "1", "-host", "a b", "-csize", "16"});
  sample.so_far.io_ranks = {0, 72};
  sample.so_far.files = {"/s/a", "/s/b"};
  EXPECT_THAT(sample.head(), AllOf(HasSubstr("I/O Testing type N -> M -> M: 3\n"),
                                   HasSubstr("processors (M): 2\nNumber of I/O processors per host: 1\nHost Name List: "
                                             "a b\n"),
                                   HasSubstr("Circular buffer size (-csize): 16\n")));
  EXPECT_EQ(above_phase(sample.so_far, {0, bench::io::IoOperation::write, 0}),
            "=== MPI write [144->2->2 /s/a] Starting ...\n");
  EXPECT_EQ(above_phase(sample.so_far, {1, bench::io::IoOperation::read, 0}),
            "=== MPI read [2->2->144 /s/a] Starting ...\n");
  sample.take({"x", "-type", "2", "-size", "8"});
  sample.so_far.files = {"/s/a"};
  EXPECT_EQ(above_phase(sample.so_far, {1, bench::io::IoOperation::read, 0}),
            "=== MPI read [1->144->144 /s/a] Starting ...\n");
  EXPECT_THAT(sample.head(), HasSubstr("I/O Testing type N -> 1: 2\n"));
  sample.take({"x", "-type", "5", "-size", "8", "-targets", "list"});
  sample.so_far.files = {"/s/a", "/s/b", "/s/c"};
  EXPECT_THAT(sample.head(), AllOf(HasSubstr("I/O Testing type N -> M: 5\n"), HasSubstr("processors (M): 3\n"),
                                   HasSubstr("File containing target files (-targets): list\n")));
  sample.take({"x", "-type", "4", "-size", "8", "-num_io", "1", "-nofile", "-norsend"});
  sample.so_far.files.clear();
  EXPECT_THAT(sample.head(), AllOf(HasSubstr("(-nofile): 0\n"), HasSubstr("(-norsend): 0\n")));
}

TEST(MpiIoTestText, HasALineForWhatWasDone) {
  Sample sample;
  sample.take({"x", "-type", "4", "-size", "8", "-sync", "-barrier", "-op", "write"});
  sample.set(bench::io::IoTime::preallocate, {});
  EXPECT_THAT(sample.lines(), Not(HasSubstr("Preallocate")));
  EXPECT_THAT(sample.lines(), Not(HasSubstr("Sync")));
  sample.set(bench::io::IoTime::sync, spread(1, 0, 2, 3, 4));
  sample.set(bench::io::IoTime::barrier, spread(1, 0, 2, 3, 4));
  sample.set(bench::io::IoTime::send, spread(1, 0, 2, 3, 4));
  sample.set(bench::io::IoTime::receive, spread(1, 0, 2, 3, 4));
  for (const char* words : {"MPI File Sync Time", "MPI Barrier Wait Time", "MPI Processor send wait time",
                            "MPI Processor Receive Wait Time"}) {
    EXPECT_THAT(sample.lines(), HasSubstr(std::string("=== ") + words +
                                          " (min [rank] avg max [rank]): 1.000000e+00 [0] 2.000000e+00 3.000000e+00 "
                                          "[4] sec.\n"));
  }
}

TEST(MpiIoTestText, CallsReadingReading) {
  Sample sample;
  sample.write.position.operation = bench::io::IoOperation::read;
  EXPECT_THAT(sample.lines(), AllOf(HasSubstr("=== Read Bandwidth"), HasSubstr("=== Read Time"),
                                    HasSubstr("MPI File Read Wait Time"), EndsWith("=== Completed MPI-IO Read.\n")));
}

TEST(MpiIoTestText, GivesNoBandwidthOfAPhaseThatFailed) {
  Sample sample;
  sample.write.is_complete = false;
  sample.write.error = "no space";
  EXPECT_THAT(sample.lines(), AllOf(Not(HasSubstr("Bandwidth")), Not(HasSubstr("Completed")), HasSubstr("Total Time"),
                                    EndsWith("=== MPI-IO Write failed: no space\n")));
}

TEST(MpiIoTestText, SaysHowMuchWasMovedWhenTheRunEndsInAPhase) {
  Sample sample;
  sample.write = {};
  sample.write.is_interrupted = true;
  sample.write.error = "interrupted: the run was told to stop";
  sample.write.bytes = std::uint64_t{513} << 20;
  sample.write.wall_ns = 2.5e9;
  sample.write.at_interruption = {{.rank = 0}, {.rank = 7}};
  EXPECT_EQ(sample.lines(),
            "=== 2 of 144 processes had moved 5.130000e+02 Mbytes after 2.500000e+00 sec.\n"
            "=== MPI-IO Write failed: interrupted: the run was told to stop\n");
}

TEST(MpiIoTestText, NamesSyncAsItIsWritten) {
  EXPECT_EQ(without_sync_values("7 pages dirty; -sync none\n    Use -sync inside, or write more. -sync\n"),
            "7 pages dirty; no -sync\n    Use -sync, or write more. -sync\n");
}

TEST(MpiIoTestText, HasTheTimesOfEachProcessWhereAsked) {
  Sample sample;
  sample.write.ranks = {{0, 2e9, {}}, {7, 3e9, {}}};
  sample.write.ranks[1].times_ns[static_cast<std::size_t>(bench::io::IoTime::close)] = 5e8;
  EXPECT_THAT(sample.lines(), Not(HasSubstr("Times of each process")));
  sample.command.shown.times_of_ranks = Flag::on;
  EXPECT_THAT(sample.lines(), HasSubstr("\n     0     2.000000 "));
  EXPECT_THAT(sample.lines(),
              HasSubstr("\n     7     3.000000     0.000000     0.000000     0.000000     0.500000     0.000000"));
}

TEST(MpiIoTestText, ListsHostsWhereAsked) {
  Sample sample;
  EXPECT_THAT(sample.head(), Not(HasSubstr("0-71")));
  sample.command.shown.hosts = Flag::on;
  EXPECT_THAT(sample.head(), EndsWith("Hosts running the program (-lhosts):\na: 0-71\nb: 72-143\n"));
}

TEST(MpiIoTestText, SaysWhichHintsAreAnEcho) {
  bench::io::IoResult result;
  result.hints = {{"cb_nodes", "1", "1", true}, {"bogus_key", "7", "7", false}, {"lost", "3", "", false}};
  EXPECT_EQ(ending(result), "") << "nobody asked for any";
  result.request.hints = {{"cb_nodes", "1"}, {"bogus_key", "7"}, {"lost", "3"}};
  EXPECT_EQ(ending(result),
            "MPI_info Hints Used (RANK 0):\n"
            "Key: cb_nodes                 = 1\n"
            "Key: bogus_key                = 7 (an echo of what was asked, not confirmed)\n"
            "Key: lost                     = 3 (asked for, not taken)\n");
}

TEST(MpiIoTestText, ComesWhilePhasesDo) {
  Sample sample;
  std::string out;
  std::size_t num_shown = 0;
  const auto progress =
      make_progress(sample.so_far, sample.command.shown,
                    {[&](const std::string& text) { out += text; }, [](const std::string&) {}}, num_shown);
  progress->phase_begins({0, bench::io::IoOperation::write, 0}, 8);
  EXPECT_EQ(out, "=== MPI write [144->144->144 /scratch/user/test_file.0] Starting ...\n");
  EXPECT_EQ(num_shown, 0u);
  progress->waits("sleeping");
  progress->phase_goes_on({});
  progress->phase_ends(sample.write);
  EXPECT_THAT(out, EndsWith(sample.lines()));
  EXPECT_EQ(num_shown, 1u);
}

}  // namespace
}  // namespace leadline::compat::mpi_io_test
