// SPDX-License-Identifier: Apache-2.0
// What all ranks write of a parallel file test is what the HDF5 library reads: rows, phases, marks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include <nlohmann/json.hpp>

#include "bench/io/hdf5_store.hpp"
#include "bench/io/json.hpp"
#include "bench/io/result_fixture.hpp"

namespace leadline::test::io_hdf5_test {
namespace {

using bench::io::Hdf5Store;
using bench::io::IoFileSetup;
using bench::io::phase_text;
using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;

void expect_no_errors(const std::vector<std::string>& errors) { EXPECT_THAT(errors, Each("")); }

/// What a table of /io/ranks must have, hole by hole.
template <typename NumberOf>
auto expected(int num_written, NumberOf number_of) {
  std::vector<decltype(number_of(bench::io::RankPhase{}))> all;
  for (int index = 0; index < static_cast<int>(num_phases_of_io); ++index) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      const bool is_there = index < num_written;
      all.push_back(is_there ? number_of(rank_phase_of(index, rank)) : decltype(number_of(bench::io::RankPhase{})){});
    }
  }
  return all;
}

void expect_times(const Reader& reader, int num_written) {
  const auto expect = [&](const std::string& name, auto number_of) {
    EXPECT_EQ(reader.doubles("/io/ranks/" + name), expected(num_written, number_of)) << name;
  };
  expect("begin_ns", [](const bench::io::RankPhase& phase) { return phase.begin_ns; });
  expect("end_ns", [](const bench::io::RankPhase& phase) { return phase.end_ns; });
  expect("joint_ns", [](const bench::io::RankPhase& phase) { return phase.joint_ns; });
  expect("done_ns", [](const bench::io::RankPhase& phase) { return phase.done_ns; });
  expect("io_ns", [](const bench::io::RankPhase& phase) { return phase.io_ns; });
  expect("call_ns_min", [](const bench::io::RankPhase& phase) { return phase.call_ns_min; });
  expect("call_ns_max", [](const bench::io::RankPhase& phase) { return phase.call_ns_max; });
  const std::array<const char*, bench::io::num_io_times> names{
      "open", "preallocate", "call", "wait", "send", "receive", "barrier", "fill", "verify", "sync", "close"};
  for (std::size_t index = 0; index < bench::io::num_io_times; ++index) {
    expect(std::string(names.at(index)) + "_ns",
           [index](const bench::io::RankPhase& phase) { return phase.times_ns.at(index); });
  }
}

void expect_counts(const Reader& reader, int num_written) {
  const auto expect = [&](const std::string& name, auto number_of) {
    EXPECT_EQ(reader.values<std::uint64_t>("/io/ranks/" + name, H5T_NATIVE_UINT64), expected(num_written, number_of))
        << name;
  };
  using Row = bench::io::RankPhase;
  expect("num_objects", [](const Row& row) { return row.num_objects; });
  expect("bytes", [](const Row& row) { return row.bytes; });
  expect("message_bytes", [](const Row& row) { return row.message_bytes; });
  expect("num_calls", [](const Row& row) { return row.num_calls; });
  expect("num_continued", [](const Row& row) { return row.num_continued; });
  expect("bytes_at_stop", [](const Row& row) { return row.bytes_at_stop; });
  expect("system_bytes", [](const Row& row) { return row.system_bytes; });
  expect("num_mismatches", [](const Row& row) { return row.num_mismatches; });
  expect("series_bin_ns", [](const Row& row) { return row.series.bin_ns; });
  expect("cache_known", [](const Row& row) {
    return (row.cache_before.is_known ? 1U : 0U) + (row.cache_after.is_known ? 2U : 0U) + std::uint64_t{0};
  });
  expect("cache_pages", [](const Row& row) { return row.cache_before.pages; });
  expect("cached_before", [](const Row& row) { return row.cache_before.cached; });
  expect("dirty_before", [](const Row& row) { return row.cache_before.dirty; });
  expect("writeback_before", [](const Row& row) { return row.cache_before.writeback; });
  expect("cached_after", [](const Row& row) { return row.cache_after.cached; });
  expect("dirty_after", [](const Row& row) { return row.cache_after.dirty; });
  expect("writeback_after", [](const Row& row) { return row.cache_after.writeback; });
  EXPECT_EQ(reader.ints("/io/ranks/file"), expected(num_written, [](const Row& row) { return int{row.file}; }));
}

/// Those with a list in each cell, put one after the other.
void expect_lists(const Reader& reader, int num_written) {
  const auto expect = [&](const std::string& name, auto list_of) {
    std::vector<std::uint64_t> all;
    for (const auto& list : expected(num_written, list_of)) all.insert(all.end(), list.begin(), list.end());
    EXPECT_EQ(reader.values<std::uint64_t>("/io/ranks/" + name, H5T_NATIVE_UINT64), all) << name;
  };
  expect("latencies", [](const bench::io::RankPhase& phase) { return phase.latencies; });
  expect("series_bytes", [](const bench::io::RankPhase& phase) { return phase.series.bytes; });
}

void expect_phases(const Reader& reader, int num_written) {
  std::vector<int> operation, repeat, state;
  std::vector<std::string> summary;
  for (int index = 0; index < static_cast<int>(num_phases_of_io); ++index) {
    const bool is_there = index < num_written;
    operation.push_back(is_there ? index % 2 : 0);
    repeat.push_back(is_there ? index / 2 : 0);
    state.push_back(is_there ? 1 : 0);
    summary.push_back(is_there ? phase_text(phase_summary_of(index), 32767) : "");
  }
  EXPECT_EQ(reader.ints("/io/phases/operation"), operation);
  EXPECT_EQ(reader.ints("/io/phases/repeat"), repeat);
  EXPECT_EQ(reader.ints("/io/phases/state"), state);
  EXPECT_EQ(reader.texts("/io/phases/summary"), summary);
}

void expect_everything(const Reader& reader, int num_written = num_measured_phases) {
  expect_times(reader, num_written);
  expect_counts(reader, num_written);
  expect_lists(reader, num_written);
  expect_phases(reader, num_written);
}

TEST(IoHdf5, GivesBackEverythingThatAllRanksWrote) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({num_ranks, 2}, [&](auto& cluster) { write_io(cluster, io_setup(cluster, path)); }));

  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_EQ(reader.text_attribute("/", "benchmark"), "io");
  EXPECT_EQ(reader.number_attribute("/", "format_version"), 1);
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(1));
  EXPECT_THAT(reader.texts("/status/reason"), ElementsAre(""));
  EXPECT_EQ(reader.text_attribute("/provenance", "end_utc"), "2026-01-31T23:59:59Z");
  EXPECT_EQ(reader.text_attribute("/options", "movement"), "N-M-1");
  EXPECT_THAT(reader.ints("/message_size_bytes"), ElementsAre(4096));
  EXPECT_THAT(reader.ints("/ranks/pid"), ElementsAre(100, 101, 102, 103, 104));
  EXPECT_EQ(reader.text_attribute("/io", "movement"), "N-M-1");
  EXPECT_EQ(reader.text_attribute("/io", "order"), "strided");
  EXPECT_EQ(reader.text_attribute("/io", "backend_library"), "POSIX");
  EXPECT_EQ(reader.text_attribute("/io", "file_system"), "ext4");
  EXPECT_EQ(reader.number_attribute("/io", "num_objects"), 12);
  EXPECT_EQ(reader.number_attribute("/io", "object_size_bytes"), 4096);
  EXPECT_EQ(reader.number_attribute("/io", "run"), 18446744073709551615.0);
  EXPECT_THAT(reader.ints("/io/io_ranks"), ElementsAre(0, 3));
  EXPECT_THAT(reader.texts("/io/files"), ElementsAre("/scratch/leadline-io", "/scratch/two"));
  EXPECT_THAT(reader.shape("/io/ranks/end_ns"), ElementsAre(6, num_ranks));
  EXPECT_THAT(reader.shape("/io/ranks/latencies"), ElementsAre(6, num_ranks, 128));
  EXPECT_THAT(reader.shape("/io/phases/summary"), ElementsAre(6));
  expect_everything(reader);
  EXPECT_EQ(reader.variable_text("/summary"), bench::io::json_text(finished(io_so_far())));
}

TEST(IoHdf5, OfARunWithoutFilesHasNoneAndNoListOfThem) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    bench::io::IoResult so_far = io_so_far();
    so_far.files.clear();
    so_far.io_ranks.clear();
    Hdf5Store store(cluster, so_far, io_setup(cluster, folder / "run.h5"));
    store.finish(finished(so_far));
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(1));
  EXPECT_FALSE(reader.has("/io/files"));
  EXPECT_FALSE(reader.has("/io/io_ranks"));
}

TEST(IoHdf5, KeepsNamesOfFilesAsFarAsTheyFit) {
  const Folder folder;
  const std::string longest(512, 'l'), longer(600, 'x');
  expect_no_errors(run_ranks({2}, [&](auto& cluster) {
    bench::io::IoResult so_far = io_so_far(2);
    so_far.files = {longest, longer, "last"};
    Hdf5Store(cluster, so_far, io_setup(cluster, folder / "run.h5"));
  }));
  EXPECT_THAT(Reader(folder / "run.h5").texts("/io/files"),
              ElementsAre(longest, std::string(509, 'x') + "...", "last"));
}

TEST(IoHdf5, Has0ForWhatIsNoNumber) {
  const Folder folder;
  expect_no_errors(run_ranks({2}, [&](auto& cluster) {
    Hdf5Store store(cluster, io_so_far(2), io_setup(cluster, folder / "run.h5"));
    bench::io::RankPhase row;
    row.call_ns_min = row.io_ns = std::numeric_limits<double>::quiet_NaN();
    row.call_ns_max = std::numeric_limits<double>::infinity();
    store.write(place_of(1), row, {});
  }));
  const Reader reader(folder / "run.h5");
  for (const char* name : {"io_ns", "call_ns_min", "call_ns_max"}) {
    EXPECT_THAT(reader.doubles(std::string("/io/ranks/") + name), Each(0)) << name;
  }
  EXPECT_EQ(reader.ints("/io/ranks/file").at(2), -1);
}

TEST(IoHdf5, SaysWhichPhaseAnErrorEnded) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    Hdf5Store store(cluster, io_so_far(), io_setup(cluster, folder / "run.h5"));
    write_phase(store, cluster, phase_summary_of(0));
    write_phase(store, cluster, failed_phase(1));
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/io/phases/state"), ElementsAre(1, 2, 0, 0, 0, 0));
  const json phase = json::parse(reader.texts("/io/phases/summary").at(1));
  EXPECT_EQ(phase["error"], "reading FILE failed (Input/output error)");
  EXPECT_EQ(phase["wrong"].size(), 1U);
  expect_times(reader, 2);
}

TEST(IoHdf5, KeepsWhatIsKnownOfAnInterruptedPhase) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    Hdf5Store store(cluster, io_so_far(), io_setup(cluster, folder / "run.h5"));
    write_phase(store, cluster, phase_summary_of(0));
    if (cluster.rank() == 1) store.keep_interrupted(interrupted_phase(1));  // where rank 0 is lost
    cluster.barrier();
    if (cluster.rank() == 0) store.keep_interrupted(interrupted_phase(0));  // it has come to its end meanwhile
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/io/phases/state"), ElementsAre(1, 2, 0, 0, 0, 0));
  const json phase = json::parse(reader.texts("/io/phases/summary").at(1));
  EXPECT_EQ(phase["is_interrupted"], true);
  EXPECT_EQ(phase["at_interruption"][1]["bytes"], 8192);
  const auto row = [&](const auto& all) { return std::vector(all.begin() + num_ranks, all.begin() + 2 * num_ranks); };
  EXPECT_THAT(row(reader.doubles("/io/ranks/end_ns")), ElementsAre(5e6, 0, 0, 4e6, 0));
  EXPECT_THAT(row(reader.doubles("/io/ranks/io_ns")), Each(0));
  EXPECT_THAT(row(reader.values<std::uint64_t>("/io/ranks/bytes", H5T_NATIVE_UINT64)),
              ElementsAre(4096, 0, 0, 8192, 0));
}

TEST(IoHdf5, HasThePhaseOfTheRootThatGoesOn) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    Hdf5Store store(cluster, io_so_far(), io_setup(cluster, folder / "run.h5"));
    bench::io::PhaseSummary of_lost_root = interrupted_phase(0);
    of_lost_root.error = std::string(20'000, 'x');
    if (cluster.rank() == 1) store.keep_interrupted(of_lost_root);
    cluster.barrier();
    write_phase(store, cluster, phase_summary_of(0));
    cluster.barrier();
    if (cluster.rank() == 1) store.keep_interrupted(of_lost_root);
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/io/phases/state"), ElementsAre(1, 0, 0, 0, 0, 0));
  EXPECT_EQ(json::parse(reader.texts("/io/phases/summary").at(0))["is_interrupted"], false);
}

TEST(IoHdf5, IsAHoleUntilWritten) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  std::ofstream(path).close();
  bench::io::Header header = bench::io::header_of(io_so_far());
  header.num_ranks = 1 << 16;
  header.num_phases = 1000;
  bench::io::create_structure(path, header);

  const double size_bytes = bench::io::size_of_phases(header);
  EXPECT_GE(size_bytes, 1000.0 * 65536 * (2 * 128 * 8 + 29 * 8));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_GE(static_cast<double>(status.st_size), size_bytes);
  EXPECT_LT(static_cast<double>(status.st_size), size_bytes + (1 << 26)) << "ranks and their places";
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
  EXPECT_THAT(Reader(path).shape("/io/ranks/latencies"), ElementsAre(1000, 1 << 16, 128));
}

TEST(IoHdf5, ThatIsLargerThanFilesCanBeIsAnError) {
  const Folder folder;
  for (const std::uint64_t num : {std::uint64_t{1} << 49, std::uint64_t{1} << 58, std::uint64_t{1} << 62}) {
    const auto errors = run_ranks({2}, [&](auto& cluster) {
      IoFileSetup setup = io_setup(cluster, folder / "run.h5");
      setup.num_phases = num;
      Hdf5Store(cluster, io_so_far(2), setup);
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("run.h5"), HasSubstr("--repeat"))));
    EXPECT_FALSE(std::filesystem::exists(folder / "run.h5"));
  }
}

TEST(IoHdf5, RefusesPhasesForWhichThereIsNoPlaceOnAllRanks) {
  const Folder folder;
  const auto errors_of = [&](const std::string& name, int index, int wrong_rank) {
    auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
      Hdf5Store store(cluster, io_so_far(), io_setup(cluster, folder / name));
      const int own = wrong_rank < 0 || cluster.rank() == wrong_rank ? index : 0;
      store.write(place_of(own), rank_phase_of(0, cluster.rank()), phase_summary_of(0));
    });
    EXPECT_THAT(Reader(folder / name).ints("/io/phases/state"), Each(0)) << name;
    return errors;
  };
  const auto refused = Each(AllOf(HasSubstr(".h5"), HasSubstr("no place")));
  EXPECT_THAT(errors_of("behind.h5", num_phases_of_io, -1), refused);
  EXPECT_THAT(errors_of("before.h5", -1, -1), refused);
  // One rank's mistake is everyone's error, so that the file does not say that the phase is there.
  EXPECT_THAT(errors_of("one.h5", num_phases_of_io, 2), Each(HasSubstr("rank 2 has phase 6")));
}

TEST(IoHdf5, AKillLeavesAFileThatOpensWithThePhasesSoFar) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_left_by_a_kill(path, num_ranks, [&](auto& cluster) {
    Hdf5Store store(cluster, io_so_far(), io_setup(cluster, path));
    write_phase(store, cluster, phase_summary_of(0));
    write_phase(store, cluster, phase_summary_of(1));
    kill_rank_2(cluster);
  });
  const Reader reader(path);
  expect_everything(reader, 2);
}

TEST(IoHdf5, ADiskThatIsFullInTheMiddleLeavesWhatWasMeasuredBefore) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
      Hdf5Store store(cluster, io_so_far(), io_setup(cluster, path));
      write_phase(store, cluster, phase_summary_of(0));
      limit_file_size(cluster, path, "/io/ranks/end_ns");
      write_phase(store, cluster, phase_summary_of(1));
      // Only the last rank's time of the end of the last phase does not fit.
      write_phase(store, cluster, phase_summary_of(5));
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("File too large"), HasSubstr("run.h5"))));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(0));
  expect_phases(reader, 2);
}

}  // namespace
}  // namespace leadline::test::io_hdf5_test
