// SPDX-License-Identifier: Apache-2.0
// Progress, plan and summary of a parallel file test.
#include "bench/io/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/io/made_up.hpp"
#include "bench/io/summary.hpp"
#include "support/screen.hpp"

namespace leadline::output {
namespace {

using schedule::Movement;
using test::io_gibi;
using test::io_mebi;
using test::made_up_io_result;
using test::made_up_phase;
using test::Screen;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr bench::io::PhasePosition first_write{0, bench::io::IoOperation::write, 0};

TEST(IoProgress, IsALineASecond) {
  Screen screen;
  bench::io::IoRequest request;
  request.repeat = 2;
  const auto progress = bench::io::make_io_lines(request, screen.outlet());
  progress->phase_begins(first_write, 100 * io_mebi);
  for (int tenth = 0; tenth <= 25; ++tenth) {
    screen.now_s = 0.1 * tenth;
    progress->phase_goes_on({first_write, static_cast<std::uint64_t>(tenth) * io_mebi, 100 * io_mebi, screen.now_s});
  }
  progress->waits("sleeping 5 s before reading");
  progress->phase_ends(made_up_phase(bench::io::IoOperation::write, 1, 1));
  EXPECT_EQ(screen.text,
            "write 1 of 2: 10.0 % of 100.0 MiB, 10.00 MiB/s, 9.00 s left\n"
            "write 1 of 2: 20.0 % of 100.0 MiB, 10.00 MiB/s, 8.00 s left\n"
            "sleeping 5 s before reading\n"
            "write 2 of 2: 128.0 MiB in 0.12 s, 1.000 GiB/s\n");
}

TEST(IoProgress, EndsWithTheTimeLimit) {
  Screen screen;
  bench::io::IoRequest request;
  request.time_limit_s = 4;
  const auto progress = bench::io::make_io_lines(request, screen.outlet());
  progress->phase_begins(first_write, 100 * io_mebi);
  screen.now_s = 2;
  progress->phase_goes_on({first_write, io_mebi, 100 * io_mebi, 2});
  EXPECT_THAT(screen.text, HasSubstr("write:  1.0 % of 100.0 MiB, 512.0 KiB/s, 2.00 s left\n"));
}

TEST(IoProgress, InATerminalKeepsOnlyTheEndOfPhases) {
  Screen screen;
  {
    const auto progress = bench::io::make_io_bar({}, screen.outlet());
    progress->phase_begins(first_write, 100 * io_mebi);
    screen.now_s = 1;
    progress->phase_goes_on({first_write, 50 * io_mebi, 100 * io_mebi, 1});
    EXPECT_THAT(screen.text, AllOf(HasSubstr("write [#"), HasSubstr("50.0 MiB, 1.00 s left, 50.00 MiB/s")));
    EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 0);
    progress->phase_ends(made_up_phase(bench::io::IoOperation::write, 0, 1));
  }
  EXPECT_THAT(screen.text, testing::EndsWith("write: 128.0 MiB in 0.12 s, 1.000 GiB/s\n"));
}

TEST(IoProgress, SaysWhenAPhaseFailed) {
  Screen screen;
  const auto progress = bench::io::make_io_lines({}, screen.outlet());
  bench::io::PhaseSummary phase = made_up_phase(bench::io::IoOperation::read, 0, 1);
  phase.is_complete = false;
  progress->phase_ends(phase);
  EXPECT_EQ(screen.text, "read: not complete\n");
}

class IoPlans : public testing::Test {
 protected:
  std::string text(const bench::io::IoRequest& request, int num_ranks, int ranks_per_host) {
    host_of_.clear();
    bench::io::Names names;
    for (int rank = 0; rank < num_ranks; ++rank) host_of_.push_back(static_cast<std::uint32_t>(rank / ranks_per_host));
    for (std::uint32_t host = 0; host <= host_of_.back(); ++host) names.hosts.push_back("host" + std::to_string(host));
    return io_plan_text(request, bench::io::plan(request, {num_ranks, ranks_per_host, host_of_}, names));
  }

 private:
  std::vector<std::uint32_t> host_of_;
};

TEST_F(IoPlans, ShowWhoWritesWhat) {
  bench::io::IoRequest request;
  request.movement = Movement::n_m_1;
  request.io_ranks = {2};
  request.num_objects = 4;
  request.object_size_bytes = io_mebi;
  request.buffer_size_bytes = 2 * io_mebi;
  request.repeat = 3;
  request.target = "/scratch/t";
  const std::string plan = text(request, 5, 3);
  EXPECT_THAT(plan, HasSubstr("Parallel file test of 5 ranks on 2 hosts: N-M-1\n"
                              "Data: 4 objects of 1 MiB a rank, 20.0 MiB in all\n"
                              "Files: 1; blocking calls\n"
                              "I/O ranks: 2 (0, 3), each with 2 buffers of 2 MiB\n"
                              "Phases: write, read; 3 times; fsync inside the reported time\n"
                              "Map:\n"
                              "  rank  I/O rank  file  name        bytes\n"
                              "     0         0     0  /scratch/t  0 B to 4 MiB\n"
                              "     1         0     0  /scratch/t  4 MiB to 8 MiB\n"));
  EXPECT_THAT(plan, HasSubstr("\n     4         3     0  /scratch/t  16 MiB to 20 MiB\nNeeds:\n  memory    "));
  EXPECT_THAT(plan, AllOf(HasSubstr("\n  files     20.0 MiB\n"), HasSubstr("\n  messages  ")));
}

TEST_F(IoPlans, ShowStridesAndFiles) {
  bench::io::IoRequest request;
  request.movement = Movement::n_m;
  request.num_files = 2;
  request.order = schedule::Order::strided;
  request.num_objects = 3;
  request.target = "t.%r";  // the number of the file
  request.operations = bench::io::IoOperations::read;
  const std::string plan = text(request, 4, 4);
  EXPECT_THAT(plan, HasSubstr("N-M, strided\n"));
  EXPECT_THAT(plan, HasSubstr("Phases: read\n"));
  EXPECT_THAT(plan, HasSubstr("     2     0  t.0   1 MiB to 6 MiB, every 2 MiB\n"));
  EXPECT_THAT(plan, Not(HasSubstr("messages")));
}

TEST_F(IoPlans, ShowBlocksAndOrders) {
  bench::io::IoRequest request;
  request.movement = Movement::n_1;
  request.order = schedule::Order::strided;
  request.num_objects = 6;
  request.block_size_bytes = 2 * io_mebi;
  request.random_seed = 5;
  request.target = "t";
  const std::string plan = text(request, 3, 3);
  EXPECT_THAT(plan, HasSubstr("N-1, strided in blocks of 2 MiB, in random order 5\n"));
  EXPECT_THAT(plan, HasSubstr("     1     0  t     2 MiB to 16 MiB, 2 MiB every 6 MiB\n"));
}

TEST_F(IoPlans, ShowItemsAndDirectories) {
  bench::io::IoRequest request;
  request.metadata = true;
  request.movement = Movement::n_m;
  request.num_files = 2;
  request.num_objects = 10;
  request.object_size_bytes = 3901;
  request.sync = bench::io::SyncTiming::inside;
  request.target = "/scratch/d.%r";
  const std::string plan = text(request, 4, 4);
  EXPECT_THAT(plan, HasSubstr("Metadata: 10 directories, then 10 files of 3901 B a rank, 40 of each in all\n"
                              "Directories: 2\n"
                              "Phases: mkdir, rmdir, create, stat, open, read_file, unlink; fsync of each file before "
                              "it is closed\n"
                              "Map:\n"
                              "  rank  directory  name\n"
                              "     0          0  /scratch/d.0\n"
                              "     1          1  /scratch/d.1\n"));
  EXPECT_THAT(plan, Not(HasSubstr("fsync inside")));
}

TEST_F(IoPlans, ShowWhatAPresetStandsFor) {
  bench::io::IoRequest request;
  request.preset = bench::io::Preset::ior_hard;
  request.read_shift = bench::io::ReadShift::hosts;
  request.read_shift_by = 1;
  request.is_shift_optional = true;
  EXPECT_THAT(text(request, 4, 4), AllOf(HasSubstr("Preset ior-hard: --movement N-1 --strided --object-size 47008B"),
                                         HasSubstr("without --read-shift")));
  EXPECT_THAT(text(request, 4, 2), AllOf(HasSubstr("Preset ior-hard: "), Not(HasSubstr("without --read-shift"))));
}

TEST_F(IoPlans, WithoutFilesShowTheFunnel) {
  bench::io::IoRequest request;
  request.movement = Movement::n_m_m;
  request.io_ranks = {1};
  request.no_file = true;
  const std::string plan = text(request, 3, 3);
  EXPECT_THAT(plan, HasSubstr("N-M-M, messages only\n"));
  EXPECT_THAT(plan, HasSubstr("  rank  I/O rank\n     0         0\n     1         0\n     2         0\n"));
  EXPECT_THAT(plan, AllOf(Not(HasSubstr("files  ")), Not(HasSubstr("fsync")), HasSubstr("messages  ")));
}

TEST_F(IoPlans, OfALargeRunAreShort) {
  bench::io::IoRequest request;
  request.movement = Movement::n_m_m;
  request.io_ranks = {64};
  const std::string plan = text(request, 4096, 64);
  EXPECT_LT(std::count(plan.begin(), plan.end(), '\n'), 50);
  EXPECT_THAT(plan, AllOf(HasSubstr("I/O ranks: 64 (0, 64, 128,"), HasSubstr(" ... 4032), each"),
                          HasSubstr("of 4096 ranks 32 are shown"), HasSubstr("\n  4095      4032    63  ")));
}

TEST(IoSummary, BeginsWithWhatWasDoneAndTheRates) {
  EXPECT_THAT(
      bench::io::io_summary(made_up_io_result(), "r.h5"),
      testing::StartsWith(
          "8 ranks on 2 hosts, transport tcp (sockets of the kernel), waiting: yield\n"
          "N-M-1: 16 objects of 1 MiB a rank, 2 I/O ranks\n"
          "POSIX: blocking calls\n"
          "1 file on ext4: /scratch/t\n"
          "\n"
          "write: 2.000 GiB/s, the median of 3 (1.000 to 3.000; mean 2.000 ± 2.500, 95 %)\n"
          "  fsync is inside the time: nothing was dirty when the time ended\n"
          "read: 4.000 GiB/s, the median of 3 (4.000 to 4.000; mean 4.000 ± 0.000, 95 %)\n"
          "  25.0 % of the pages were cached before: from both\n"
          "\n"
          "rates in GiB/s\n"
          "  phase  repeat      bytes  all done  first done  slowest rank  mean rank  transfer  IOPS\n"
          "  write       0  128.0 MiB     1.000       1.125         1.200      1.250     1.500  1024  durable\n"
          "  read        0  128.0 MiB     4.000       4.500         4.800      5.000     6.000  4096  from both\n"));
}

TEST(IoSummary, ShowsTimesOfTheMedianRepeat) {
  const std::string text = bench::io::io_summary(made_up_io_result(), "r.h5");
  EXPECT_THAT(text, HasSubstr("times of ranks in ms (write of repeat 1, which is nearest to the median)\n"
                              "  time       least  rank     mean    most  rank   ranks\n"
                              "  I/O time  37.500  2 (a)  50.000  62.500  5 (b)      8\n"
                              "    open     0.312  0 (a)   0.469   0.625  7 (b)      8\n"
                              "    call    15.625  0 (a)  23.438  31.250  7 (b)      8\n"
                              "    sync     7.812  0 (a)  11.719  15.625  7 (b)      8\n"
                              "    fill     3.906  0 (a)   5.859   7.812  7 (b)      8  not in the I/O time\n"));
  EXPECT_THAT(text, HasSubstr("latency of calls (so many are faster)\n"
                              "  calls  number     least      50 %      90 %      99 %    99.9 %      most\n"
                              "  write     128  500.0 us  1.000 ms  2.000 ms  3.000 ms  4.000 ms  5.000 ms\n"));
  EXPECT_THAT(text, HasSubstr("throughput over time, all ranks\n"
                              "  write [#=:] # is 7.451 GiB/s, one is 1.049 ms\n"));
  EXPECT_THAT(text, testing::EndsWith("\nverified: 384.0 MiB read as written\nresult: r.h5\nnext:   leadline report "
                                      "r.h5\n"));
}

/// Eight ranks made and looked at 100 files each.
bench::io::IoResult metadata_result() {
  bench::io::IoResult result = made_up_io_result();
  result.request.metadata = true;
  result.request.items = bench::io::MetadataItems::files;
  result.request.movement = Movement::n_n;
  result.request.object_size_bytes = 0;
  result.request.repeat = 1;
  result.num_objects = 100;
  result.phases.clear();
  result.operations.clear();
  for (const auto operation : {bench::io::IoOperation::create, bench::io::IoOperation::stat}) {
    bench::io::PhaseSummary phase = made_up_phase(operation, 0, 1);
    phase.bytes = 0;
    phase.num_objects = phase.num_calls = 800;
    phase.operations_per_s = 12345.6;
    phase.io = {8, 0.6e6, 0.8e6, 1e6, 2, 5};
    result.phases.push_back(phase);
  }
  return result;
}

TEST(IoSummary, OfMetadataIsATableOfOperations) {
  const std::string text = bench::io::io_summary(metadata_result(), "r.h5");
  EXPECT_THAT(text, HasSubstr("N-N: 100 files a rank\n1 directory on ext4: /scratch/t\n"));
  EXPECT_THAT(text,
              HasSubstr("files and directories\n"
                        "  operation  repeat  items  in a second      50 %      99 %      most  last rank  its time"
                        "      mean\n"
                        "  create          0    800        12346  1.000 ms  3.000 ms  5.000 ms  5 (b)      1.000 ms"
                        "  800.0 us\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("rates in")), Not(HasSubstr("throughput")), Not(HasSubstr("page cache"))));
}

TEST(IoProgress, OfMetadataCountsItems) {
  Screen screen;
  const auto progress = bench::io::make_io_lines({}, screen.outlet());
  const bench::io::PhasePosition create{0, bench::io::IoOperation::create, 0};
  progress->phase_begins(create, 400);
  screen.now_s = 2;
  progress->phase_goes_on({create, 100, 400, 2});
  EXPECT_EQ(screen.text, "create: 25.0 % of 400 items, 50 in a second, 6.00 s left\n");
}

TEST(IoSummary, SaysWhatASyncOutsideLeavesOut) {
  bench::io::IoResult result = made_up_io_result();
  result.request.sync = bench::io::SyncTiming::outside;
  for (bench::io::PhaseSummary& phase : result.phases) {
    phase.is_durable = false;
    phase.cache_after.dirty = 16384;
  }
  const std::string text = bench::io::io_summary(result, "");
  EXPECT_THAT(text, HasSubstr("fsync is outside the time: 50.0 % of the pages were dirty or being written when the "
                              "time ended\n"));
  EXPECT_THAT(text, HasSubstr("  not durable\n"));
  EXPECT_THAT(text, testing::ContainsRegex("    sync .* not in the I/O time\n"));
  result.request.sync = bench::io::SyncTiming::none;
  for (bench::io::PhaseSummary& phase : result.phases) phase.cache_after.is_known = false;
  EXPECT_THAT(bench::io::io_summary(result, ""),
              HasSubstr("no fsync: what was dirty when the time ended is unknown\n"));
  result.request.cache_path = storage::CachePath::direct;
  EXPECT_THAT(bench::io::io_summary(result, ""),
              HasSubstr("no fsync: what went round the page cache may be in caches of the storage\n"));
  result.file_system = "tmpfs";
  EXPECT_THAT(bench::io::io_summary(result, ""),
              AllOf(HasSubstr("no fsync: files are in memory alone\n"), HasSubstr("  in memory\n")));
}

TEST(IoSummary, SaysWhereReadsCameFrom) {
  bench::io::IoResult result = made_up_io_result();
  const auto with = [&](storage::CacheState before, bench::io::ReadSource source) {
    for (bench::io::PhaseSummary& phase : result.phases) {
      phase.cache_before = before;
      phase.source = source;
    }
    return bench::io::io_headlines(result);
  };
  EXPECT_THAT(with({true, 100, 0, 0, 0}, bench::io::ReadSource::storage),
              HasSubstr("0.0 % of the pages were cached before: from storage\n"));
  EXPECT_THAT(with({true, 100, 100, 0, 0}, bench::io::ReadSource::cache),
              HasSubstr("100.0 % of the pages were cached before: from the page cache\n"));
  EXPECT_THAT(with({}, bench::io::ReadSource::not_known), HasSubstr("is unknown: from an unknown source\n"));
  result.request.cache_path = storage::CachePath::direct;
  EXPECT_THAT(with({}, bench::io::ReadSource::storage), HasSubstr("round the page cache: from storage\n"));
}

TEST(IoSummary, ShowsTheStopOfATimeLimit) {
  bench::io::IoResult result = made_up_io_result();
  result.phases[0].has_stop = true;
  result.phases[0].bytes_per_s_at_stop = 0.5 * io_gibi;
  const std::string text = bench::io::io_summary(result, "");
  EXPECT_THAT(text, HasSubstr("  transfer  IOPS  at stop\n"));
  EXPECT_THAT(text, HasSubstr("     1.500  1024    0.500  durable\n"));
  EXPECT_THAT(text, HasSubstr("when the time limit passed / that time\n"));
}

TEST(IoSummary, NamesWhoAndWhatIsSlow) {
  bench::io::IoResult result = made_up_io_result();
  EXPECT_THAT(bench::io::io_summary(result, ""), AllOf(Not(HasSubstr("verdict")), Not(HasSubstr("slowest calls"))));
  DiagnosedSlice writes;
  writes.pattern = "write";
  writes.diagnosis.num_phases = 5;
  writes.diagnosis.num_measured = writes.diagnosis.num_pairs = 40;
  Fault fault;
  fault.name = "host b";
  fault.ratio = 2.5;
  fault.ratio_low = 2;
  fault.ratio_high = 4;
  fault.time_share = 0.6;
  fault.phases = PhaseEvidence{"write", 5, 4, 0.25 * io_gibi, 0.625 * io_gibi, "on all its 2 targets"};
  writes.diagnosis.faults = {fault};
  result.diagnoses = {writes};
  result.phases[0].slow_calls = {{5, "b", "/scratch/t", 4096, io_mebi, 2e6, 5e6}};
  result.phases[1].slow_calls = {{6, "b", "/scratch/t", 8192, io_mebi, 1e6, 9e6}};
  const std::string text = bench::io::io_summary(result, "");
  EXPECT_THAT(text,
              HasSubstr("verdict: 1 fault found\n"
                        "  1. host b writes at 0.4 of what comparable hosts do (0.25 to 0.5), in 4 of 5 phases, on all "
                        "its 2 targets\n"
                        "     seen     a rank moves 256.0 MiB/s while it is in calls, instead of 640.0 MiB/s\n"
                        "     costs    60 % of the time of these phases, in which the others wait for it\n"));
  EXPECT_THAT(text, HasSubstr("slowest calls\n"
                              "     ms  phase    rank   began at ms  bytes  offset  file\n"
                              "  9.000  read 0   6 (b)        1.000  1 MiB    8192  /scratch/t\n"
                              "  5.000  write 0  5 (b)        2.000  1 MiB    4096  /scratch/t\n"));
}

TEST(IoSummary, SaysWhatBecameOfHints) {
  bench::io::IoResult result = made_up_io_result();
  result.hints = {{"cb_nodes", "2", "2", true},
                  {"bogus", "7", "7", false},
                  {"striping_factor", "4", "", true},
                  {"cb_buffer_size", "1", "16777216", true},
                  {"romio_cb_write", "", "enable", true}};
  EXPECT_THAT(bench::io::io_summary(result, ""),
              HasSubstr("hints\n"
                        "  hint             asked  granted\n"
                        "  cb_nodes         2      2         in force\n"
                        "  bogus            7      7         echoed, not confirmed\n"
                        "  striping_factor  4      -         ignored\n"
                        "  cb_buffer_size   1      16777216  another value is in force\n"
                        "  1 of the library's own in the result file\n"));
}

TEST(IoSummary, OfAFailedRunShowsWhatThereIs) {
  bench::io::IoResult result = made_up_io_result();
  result.complete = false;
  result.incomplete_reason = "wrong data";
  result.operations.clear();
  result.phases.resize(2);
  result.phases[1].is_complete = false;
  bench::io::make_incomplete(result.phases[1], "wrong data");
  result.phases[1].num_mismatches = 3;
  bench::io::WrongObject wrong;
  wrong.mismatch.kind = memory::MismatchKind::zeros;
  wrong.mismatch.expected = {1, 3, 0, 4, 4 * io_mebi, 0};
  wrong.mismatch.first_byte = 4096;
  wrong.read_by = 6;
  wrong.host = "b";
  wrong.file = "/scratch/t";
  result.phases[1].wrong = {wrong};
  const std::string text = bench::io::io_summary(result, "r.h5");
  EXPECT_THAT(text, testing::StartsWith("INCOMPLETE: wrong data\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  read +0 +128.0 MiB +- +- .*  not complete\n"));
  EXPECT_THAT(text, HasSubstr("wrong: /scratch/t at 4198400: object 4 of rank 3, read by rank 6 (b): "));
  EXPECT_THAT(text, HasSubstr("3 objects with wrong data in all\n"));
  EXPECT_THAT(text, HasSubstr("times of ranks in ms (write")) << "what is complete is shown";
}

TEST(IoSummary, OfAnInterruptedPhaseShowsHowFarRanksWere) {
  bench::io::IoResult result = made_up_io_result();
  result.complete = false;
  result.incomplete_reason = "told to stop";
  result.phases.resize(1);
  bench::io::PhaseSummary& phase = result.phases.emplace_back();
  phase.position = {.index = 1, .operation = bench::io::IoOperation::read, .repeat = 0};
  phase.is_interrupted = true;
  phase.error = "interrupted: told to stop";
  phase.bytes = 3 * io_mebi;
  phase.wall_ns = 5e6;
  phase.at_interruption = {{.rank = 0, .time_ns = 5e6, .bytes = io_mebi},
                           {.rank = 5, .time_ns = 4e6, .bytes = 2 * io_mebi, .call = "reading 1 MiB at 0 of f.5"}};
  const std::string text = bench::io::io_summary(result, "r.h5");
  EXPECT_THAT(text, testing::StartsWith("INCOMPLETE: told to stop\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  read +0 +3.0 MiB +- +- +- +- +- +- +interrupted\n"));
  EXPECT_THAT(text, HasSubstr("read 0 was interrupted: what 2 of 8 ranks had moved until then; no rate\n"
                              "  rank   time in ms    bytes\n"
                              "  0 (a)       5.000  1.0 MiB\n"
                              "  5 (b)       4.000  2.0 MiB  reading 1 MiB at 0 of f.5\n"));
}

TEST(IoSummary, OfAFunnelWithoutFilesIsAboutMessages) {
  bench::io::IoResult result = made_up_io_result();
  result.request.no_file = true;
  result.files.clear();
  const std::string text = bench::io::io_summary(result, "");
  EXPECT_THAT(text, AllOf(HasSubstr("N-M-1, messages only: 16 objects"), HasSubstr("  messages only\n"),
                          Not(HasSubstr("file")), Not(HasSubstr("cached")), Not(HasSubstr("POSIX"))));
}

}  // namespace
}  // namespace leadline::output
