// SPDX-License-Identifier: Apache-2.0
// What all ranks write of a bisection test is what the HDF5 library reads: rows, tables, marks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "bench/bisection/hdf5_store.hpp"
#include "bench/bisection/json.hpp"
#include "bench/bisection/result_fixture.hpp"

namespace leadline::test::bisection_hdf5_test {
namespace {

using bench::bisection::BisectionFileSetup;
using bench::bisection::Hdf5Store;
using bench::bisection::RankTimes;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;
constexpr std::size_t num_sizes = 3;

void expect_no_errors(const std::vector<std::string>& errors) { EXPECT_THAT(errors, Each("")); }

/// What a matrix or a table must have, hole by hole.
template <typename NumberOf>
auto expected(std::array<std::uint64_t, 3> num_written, std::uint64_t row_length, int num_rows, NumberOf number_of) {
  std::vector<decltype(number_of(0, std::uint64_t{0}, 0))> all;
  for (int size_index = 0; size_index < static_cast<int>(num_sizes); ++size_index) {
    for (int row = 0; row < num_rows; ++row) {
      for (std::uint64_t number = 0; number < row_length; ++number) {
        const bool is_there = number < num_written.at(static_cast<std::size_t>(size_index));
        all.push_back(is_there ? number_of(size_index, number, row) : 0);
      }
    }
  }
  return all;
}

void expect_rows(const Reader& reader, std::array<std::uint64_t, 3> num_written) {
  const auto matrix = [&](auto member) {
    return expected(num_written, max_patterns, num_ranks, [member](int size_index, std::uint64_t number, int rank) {
      return times_of(size_index, number, rank).*member;
    });
  };
  EXPECT_EQ(reader.ints("/bisection/send_to"), matrix(&RankTimes::to));
  EXPECT_EQ(reader.ints("/bisection/receive_from"), matrix(&RankTimes::from));
  EXPECT_EQ(reader.doubles("/bisection/time_ns"), matrix(&RankTimes::time_ns));
  EXPECT_EQ(reader.doubles("/bisection/full_load_time_ns"), matrix(&RankTimes::full_load_time_ns));
}

void expect_tables(const Reader& reader, std::array<std::uint64_t, 3> num_written) {
  const auto table = [&](auto number_of) {
    return expected(num_written, max_patterns, 1, [number_of](int size_index, std::uint64_t number, int) {
      return number_of(pattern_of(size_index, number));
    });
  };
  using Pattern = bench::bisection::PatternSummary;
  const auto ints = [&](const char* name) { return reader.ints(std::string("/bisection/patterns/") + name); };
  const auto doubles = [&](const char* name) { return reader.doubles(std::string("/bisection/patterns/") + name); };
  EXPECT_EQ(ints("kind"), table([](const Pattern& pattern) {
              return pattern.position.kind == bench::bisection::PatternKind::named ? 1 : 0;
            }));
  EXPECT_EQ(ints("index"), table([](const Pattern& pattern) { return static_cast<int>(pattern.position.index); }));
  EXPECT_THAT(ints("repeat"), Each(0));
  EXPECT_EQ(ints("accepted"), table([](const Pattern& pattern) { return pattern.accepted ? 1 : 0; }));
  EXPECT_EQ(ints("num_connections"), table([](const Pattern&) { return 4; }));
  EXPECT_EQ(doubles("bytes_per_s_mean"), table([](const Pattern& pattern) { return pattern.bytes_per_s_mean; }));
  EXPECT_EQ(doubles("bytes_per_s_harmonic"),
            table([](const Pattern& pattern) { return pattern.bytes_per_s_harmonic; }));
  EXPECT_EQ(doubles("bytes_per_s_min"), table([](const Pattern& pattern) { return pattern.bytes_per_s_min; }));
  EXPECT_EQ(doubles("bytes_per_s_max"), table([](const Pattern& pattern) { return pattern.bytes_per_s_max; }));
  EXPECT_EQ(doubles("bytes_per_s_full_load"),
            table([](const Pattern& pattern) { return pattern.bytes_per_s_full_load; }));
  EXPECT_EQ(ints("slowest_from"), table([](const Pattern& pattern) { return pattern.slowest_from; }));
  EXPECT_EQ(ints("slowest_to"), table([](const Pattern& pattern) { return pattern.slowest_to; }));
  EXPECT_EQ(doubles("begin_s"), table([](const Pattern& pattern) { return pattern.begin_s; }));
  EXPECT_EQ(doubles("measuring_s"), table([](const Pattern& pattern) { return pattern.measuring_s; }));
}

void expect_baseline(const Reader& reader, std::array<std::uint64_t, 3> num_written) {
  const auto table = [&](auto member) {
    return expected(num_written, max_baseline, 1, [member](int size_index, std::uint64_t number, int) {
      return baseline_of(size_index, number).*member;
    });
  };
  EXPECT_EQ(reader.values<std::uint64_t>("/bisection/baseline/number", H5T_NATIVE_UINT64),
            table(&bench::bisection::BaselineSample::number));
  EXPECT_EQ(reader.ints("/bisection/baseline/from"), table(&bench::bisection::BaselineSample::from));
  EXPECT_EQ(reader.ints("/bisection/baseline/to"), table(&bench::bisection::BaselineSample::to));
  EXPECT_EQ(reader.doubles("/bisection/baseline/time_ns"), table(&bench::bisection::BaselineSample::time_ns));
}

void expect_everything(const Reader& reader) {
  expect_rows(reader, num_patterns_of_size);
  expect_tables(reader, num_patterns_of_size);
  expect_baseline(reader, {4, 2, 0});
}

TEST(BisectionHdf5, GivesBackEverythingThatAllRanksWrote) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(
      run_ranks({num_ranks, 2}, [&](auto& cluster) { write_bisection(cluster, bisection_setup(cluster, path)); }));

  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_EQ(reader.text_attribute("/", "benchmark"), "bisection");
  EXPECT_EQ(reader.text_attribute("/", "format"), "leadline");
  EXPECT_EQ(reader.number_attribute("/", "format_version"), 1);
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(1));
  EXPECT_THAT(reader.texts("/status/reason"), ElementsAre(""));
  EXPECT_EQ(reader.text_attribute("/provenance", "end_utc"), "2026-01-31T23:59:59Z");
  EXPECT_EQ(reader.text_attribute("/options", "pattern"), "random,halves,shift:3");
  EXPECT_EQ(reader.text_attribute("/options", "seed"), "18446744073709551615");
  EXPECT_THAT(reader.ints("/message_size_bytes"), ElementsAre(8, 1024, 4096));
  EXPECT_THAT(reader.ints("/ranks/pid"), ElementsAre(100, 101, 102, 103, 104));
  EXPECT_EQ(reader.number_attribute("/bisection", "num_participants"), 4);
  EXPECT_EQ(reader.number_attribute("/bisection", "num_exchanges"), 20);
  EXPECT_EQ(reader.number_attribute("/bisection", "seed"), 18446744073709551615.0);
  EXPECT_EQ(reader.number_attribute("/bisection", "within_hosts"), 0);
  EXPECT_THAT(reader.texts("/bisection/pattern_names"), ElementsAre("halves", "shift:3"));
  EXPECT_THAT(reader.shape("/bisection/send_to"), ElementsAre(3, num_ranks, 7));
  EXPECT_THAT(reader.shape("/bisection/full_load_time_ns"), ElementsAre(3, num_ranks, 7));
  EXPECT_THAT(reader.shape("/bisection/patterns/accepted"), ElementsAre(3, 7));
  EXPECT_THAT(reader.shape("/bisection/baseline/time_ns"), ElementsAre(3, 4));
  expect_everything(reader);
  EXPECT_EQ(reader.variable_text("/summary"), bench::bisection::json_text(finished(bisection_so_far())));
}

TEST(BisectionHdf5, HasNoPlaceForWhatWillNotCome) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    bench::bisection::BisectionResult so_far = bisection_so_far();
    so_far.pattern_names.clear();
    so_far.within_hosts = true;
    BisectionFileSetup setup = bisection_setup(cluster, folder / "run.h5");
    setup.max_baseline = 0;
    Hdf5Store store(cluster, so_far, setup);
    store.finish(finished(so_far));
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(1));
  EXPECT_FALSE(reader.has("/bisection/pattern_names"));
  EXPECT_FALSE(reader.has("/bisection/baseline"));
  EXPECT_EQ(reader.number_attribute("/bisection", "within_hosts"), 1);
}

TEST(BisectionHdf5, Has0ForWhatIsNoNumber) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    Hdf5Store store(cluster, bisection_so_far(), bisection_setup(cluster, folder / "run.h5"));
    bench::bisection::PatternSummary nobody;
    nobody.measuring_s = 0.5;
    const bench::bisection::BaselineSample unknown{.size_index = 2, .from = 0, .to = 1};
    const RankTimes rests;
    store.write({.size_index = 2, .times = {&rests, 1}, .patterns = {&nobody, 1}, .baseline = {&unknown, 1}});
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.doubles("/bisection/patterns/bytes_per_s_min"), Each(0));
  EXPECT_THAT(reader.doubles("/bisection/patterns/bytes_per_s_full_load"), Each(0));
  EXPECT_THAT(reader.doubles("/bisection/baseline/time_ns"), Each(0));
  EXPECT_EQ(reader.doubles("/bisection/patterns/measuring_s").at(2 * max_patterns), 0.5);
  EXPECT_EQ(reader.ints("/bisection/patterns/slowest_to").at(2 * max_patterns), -1);
}

TEST(BisectionHdf5, IsAHoleUntilWritten) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  std::ofstream(path).close();
  bench::bisection::Header header = bench::bisection::header_of(bisection_so_far());
  header.num_ranks = 1 << 20;
  header.max_patterns = 1000;
  header.max_baseline = 1000;
  const bench::bisection::Offsets offsets = bench::bisection::create_structure(path, header);

  constexpr std::uint64_t cells = std::uint64_t{num_sizes} << 20;
  using bench::bisection::RankTimes;
  EXPECT_GE(result::hdf5::offset_of(offsets.rows, &RankTimes::full_load_time_ns),
            result::hdf5::offset_of(offsets.rows, &RankTimes::time_ns) + 8 * 1000 * cells);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_GE(static_cast<std::uint64_t>(status.st_size), (4 + 4 + 8 + 8) * 1000 * cells);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
  EXPECT_THAT(Reader(path).shape("/bisection/time_ns"), ElementsAre(3, 1 << 20, 1000));
}

TEST(BisectionHdf5, ThatIsLargerThanFilesCanBeIsAnError) {
  const Folder folder;
  for (const std::uint64_t num : {std::uint64_t{1} << 58, std::uint64_t{1} << 62}) {
    const auto errors = run_ranks({2}, [&](auto& cluster) {
      BisectionFileSetup setup = bisection_setup(cluster, folder / "run.h5");
      setup.max_patterns = num;
      Hdf5Store(cluster, bisection_so_far(2), setup);
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("run.h5"), HasSubstr("--rounds"))));
    EXPECT_FALSE(std::filesystem::exists(folder / "run.h5"));
  }
}

TEST(BisectionHdf5, RefusesPatternsForWhichThereIsNoPlaceOnAllRanks) {
  const Folder folder;
  const auto errors_of = [&](const char* name, const std::function<void(Hdf5Store&, cluster::Cluster&)>& write) {
    const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
      Hdf5Store store(cluster, bisection_so_far(), bisection_setup(cluster, folder / name));
      write(store, cluster);
    });
    EXPECT_THAT(Reader(folder / name).doubles("/bisection/patterns/measuring_s"), Each(0));
    return errors;
  };
  const auto refused = Each(AllOf(HasSubstr(".h5"), HasSubstr("rank "), HasSubstr("no place")));
  const std::vector<RankTimes> two(2);
  const std::vector<bench::bisection::PatternSummary> patterns(2, pattern_of(0, 0));
  const auto row_of_two = [&](int size_index, std::uint64_t first) {
    return bench::bisection::RankRow{
        .size_index = size_index, .first_number = first, .times = two, .patterns = patterns, .baseline = {}};
  };
  EXPECT_THAT(errors_of("size.h5", [&](auto& store, auto&) { store.write(row_of_two(3, 0)); }), refused);
  EXPECT_THAT(errors_of("negative.h5", [&](auto& store, auto&) { store.write(row_of_two(-1, 0)); }), refused);
  EXPECT_THAT(errors_of("number.h5", [&](auto& store, auto&) { store.write(row_of_two(0, max_patterns - 1)); }),
              refused);
  // One rank's mistake is everyone's error, so that the table does not say that the pattern is there.
  EXPECT_THAT(
      errors_of("one.h5", [&](auto& store, auto& cluster) { store.write(row_of_two(cluster.rank() == 2 ? 3 : 0, 0)); }),
      Each(HasSubstr("rank 2")));
}

TEST(BisectionHdf5, HasNoRoomForMorePairsAloneThanItSays) {
  const Folder folder;
  const auto errors = run_ranks({2}, [&](auto& cluster) {
    Hdf5Store store(cluster, bisection_so_far(2), bisection_setup(cluster, folder / "run.h5"));
    const std::vector<bench::bisection::BaselineSample> samples(max_baseline + 1, baseline_of(1, 0));
    store.write({.size_index = 1, .times = {}, .patterns = {}, .baseline = samples});
  });
  EXPECT_THAT(errors, ElementsAre(AllOf(HasSubstr("run.h5"), HasSubstr("no room for more than 4 pairs")), ""));
  const auto times_ns = Reader(folder / "run.h5").doubles("/bisection/baseline/time_ns");
  EXPECT_EQ(std::ranges::count(times_ns, baseline_of(1, 0).time_ns), 4) << "those that fit are there";
}

TEST(BisectionHdf5, AKillLeavesAFileThatOpensWithThePatternsSoFar) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_left_by_a_kill(path, num_ranks, [&](auto& cluster) {
    Hdf5Store store(cluster, bisection_so_far(), bisection_setup(cluster, path));
    write_patterns(store, cluster, 0, {0, 2});
    write_patterns(store, cluster, 0, {2, 3});
    kill_rank_2(cluster);
  });
  const Reader reader(path);
  expect_rows(reader, {3, 0, 0});
  expect_tables(reader, {3, 0, 0});
  expect_baseline(reader, {3, 0, 0});
}

TEST(BisectionHdf5, ADiskThatIsFullInTheMiddleLeavesWhatWasMeasuredBefore) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
      Hdf5Store store(cluster, bisection_so_far(), bisection_setup(cluster, path));
      write_patterns(store, cluster, 0, {0, 2});
      limit_file_size(cluster, path, "/bisection/full_load_time_ns");
      write_patterns(store, cluster, 1, {0, 2});
      // Only the last rank's row of the last size does not fit.
      const std::vector<RankTimes> times(max_patterns);
      const std::vector<bench::bisection::PatternSummary> patterns(max_patterns, pattern_of(2, 0));
      store.write({.size_index = 2, .times = times, .patterns = patterns, .baseline = {}});
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("File too large"), HasSubstr("run.h5"))));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(0));
  expect_tables(reader, {2, 2, 0});
}

}  // namespace
}  // namespace leadline::test::bisection_hdf5_test
