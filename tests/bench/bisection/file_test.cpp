// SPDX-License-Identifier: Apache-2.0
// What readers make of the file of a bisection test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/bisection/hdf5_reader.hpp"
#include "bench/bisection/json.hpp"
#include "bench/bisection/output.hpp"
#include "bench/bisection/result_fixture.hpp"

namespace leadline::test::bisection_file_test {
namespace {

using bench::bisection::Hdf5Reader;
using bench::bisection::kept_sizes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;

void write_file(const std::string& path) {
  run_ranks({num_ranks, 2}, [&](auto& cluster) { write_bisection(cluster, bisection_setup(cluster, path)); });
}

TEST(BisectionFile, IsReadAsFarAsADescriptionTakes) {
  const Folder folder;
  write_file(folder / "run.h5");
  const Hdf5Reader reader(folder / "run.h5");
  const bench::bisection::Header& header = reader.header();
  EXPECT_TRUE(header.complete);
  EXPECT_EQ(header.num_ranks, num_ranks);
  EXPECT_EQ(header.num_participants, 4);
  EXPECT_EQ(header.num_exchanges, 20);
  EXPECT_EQ(header.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(header.within_hosts);
  EXPECT_THAT(header.pattern_names, ElementsAre("halves", "shift:3"));
  EXPECT_EQ(header.max_patterns, max_patterns);
  EXPECT_EQ(header.max_baseline, max_baseline);
  EXPECT_THAT(header.message_sizes_bytes, ElementsAre(8, 1024, 4096));
  EXPECT_EQ(reader.placement(4).host, "node2");
  EXPECT_EQ(reader.num_patterns(0), 6U);
  EXPECT_EQ(reader.num_patterns(1), 2U);
  EXPECT_EQ(reader.num_patterns(2), 0U);
  EXPECT_EQ(reader.num_baseline(0), 4U);
  EXPECT_EQ(reader.num_baseline(1), 2U);

  const auto sizes = kept_sizes(header, reader.path());
  ASSERT_EQ(sizes.size(), 3U);
  ASSERT_TRUE(sizes[0] && sizes[2]);
  EXPECT_EQ(sizes[0]->stopped_by, "rounds");
  EXPECT_EQ(sizes[0]->ebb.num, 4U);
  EXPECT_EQ(sizes[0]->ebb.mean, 2e9);
  EXPECT_EQ(sizes[0]->ebb.half_width, 1e7);
  EXPECT_EQ(sizes[0]->contention_share.mean, 0.5);
  EXPECT_EQ(sizes[0]->contention_share.half_width, 0.004);
  EXPECT_EQ(sizes[0]->bytes_per_s_harmonic, 1.75e9);
  EXPECT_TRUE(std::isnan(sizes[2]->ebb.mean));
}

TEST(BisectionFile, ThatWasKilledHasItsPatternsAndNoNumbers) {
  const Folder folder;
  run_ranks({num_ranks}, [&](auto& cluster) {
    auto setup = bisection_setup(cluster, folder / "run.h5");
    setup.max_baseline = 0;
    const auto file = bench::bisection::open_bisection_file(cluster, bisection_so_far(), setup);
    const std::vector<bench::bisection::RankTimes> times(3);
    const std::vector<bench::bisection::PatternSummary> patterns{pattern_of(1, 0), pattern_of(1, 1), pattern_of(1, 2)};
    file->write({.size_index = 1, .times = times, .patterns = patterns, .baseline = {}});
  });
  const Hdf5Reader reader(folder / "run.h5");
  EXPECT_FALSE(reader.header().complete);
  EXPECT_EQ(reader.num_patterns(0), 0U);
  EXPECT_EQ(reader.num_patterns(1), 3U);
  EXPECT_EQ(reader.num_baseline(1), 0U);
  for (const auto& size : kept_sizes(reader.header(), reader.path())) EXPECT_FALSE(size);
}

TEST(BisectionFile, IsCountedWithoutReadingItsHoles) {
  const Folder folder;
  run_ranks({2}, [&](auto& cluster) {
    auto setup = bisection_setup(cluster, folder / "run.h5");
    setup.max_patterns = 10'000'000'000;
    const auto file = bench::bisection::open_bisection_file(cluster, bisection_so_far(2), setup);
    const std::vector<bench::bisection::RankTimes> times(70'000);
    const std::vector<bench::bisection::PatternSummary> patterns(70'000, pattern_of(0, 0));
    file->write({.times = times, .patterns = patterns, .baseline = {}});
  });
  const Hdf5Reader reader(folder / "run.h5");
  EXPECT_EQ(reader.num_patterns(0), 70'000U);
  EXPECT_EQ(reader.num_patterns(2), 0U);
}

TEST(KeptSizes, OfADamagedSummaryAreAnError) {
  bench::bisection::Header header = bench::bisection::header_of(bisection_so_far());
  for (const char* summary : {"{", "[]", R"({"sizes": 3})", R"({"sizes": [3]})", R"({"sizes": [{"size_index": 0}]})",
                              R"({"sizes": [{"size_index": 0, "stopped_by": 3}]})"}) {
    header.summary = summary;
    EXPECT_THAT(error_of(ExitStatus::run_failed, [&] { return kept_sizes(header, "run.h5"); }),
                AllOf(HasSubstr("run.h5"), HasSubstr("/summary")))
        << summary;
  }
  bench::bisection::BisectionResult other = finished(bisection_so_far());
  for (const int size_index : {3, -1}) {
    other.sizes.front().size_index = size_index;
    header.summary = bench::bisection::json_text(other);
    EXPECT_THAT(error_of(ExitStatus::run_failed, [&] { return kept_sizes(header, "run.h5"); }),
                AllOf(HasSubstr("run.h5"), HasSubstr("/summary")));
  }
}

/// What reading says of a file from which something was taken.
std::string error_after(const std::string& whole, const std::function<void(hid_t file)>& damage) {
  return error_of_damaged(whole, damage, [](const std::string& path) {
    const Hdf5Reader reader(path);
    return reader.num_patterns(0) + reader.num_baseline(0);
  });
}

TEST(BisectionFile, ThatIsDamagedIsAnError) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  write_file(path);
  const auto without = [&](const char* object) {
    return error_after(path, [&](hid_t file) { H5Ldelete(file, object, H5P_DEFAULT); });
  };
  const auto without_attribute = [&](const char* name) {
    return error_after(path, [&](hid_t file) { H5Adelete_by_name(file, "bisection", name, H5P_DEFAULT); });
  };
  EXPECT_THAT(without("bisection"), HasSubstr("bisection"));
  EXPECT_THAT(without("bisection/patterns"), HasSubstr("/bisection/patterns/measuring_s is missing"));
  EXPECT_THAT(without("message_size_bytes"), HasSubstr("message_size_bytes"));
  for (const char* name : {"num_participants", "num_exchanges", "seed", "within_hosts"}) {
    EXPECT_THAT(without_attribute(name), AllOf(HasSubstr("/bisection"), HasSubstr(name)));
  }
  const auto swapped = [&](const char* table, const char* other) {
    return error_after(path, [&](hid_t file) {
      H5Ldelete(file, table, H5P_DEFAULT);
      H5Lcreate_hard(file, other, file, table, H5P_DEFAULT, H5P_DEFAULT);
    });
  };
  EXPECT_THAT(swapped("bisection/patterns/measuring_s", "bisection/send_to"), HasSubstr("another shape"));
  EXPECT_THAT(swapped("bisection/patterns/measuring_s", "bisection/patterns/kind"), HasSubstr("another kind"));
  EXPECT_THAT(swapped("bisection/baseline/time_ns", "bisection/pattern_names"), HasSubstr("another shape"));
  EXPECT_THAT(swapped("bisection/pattern_names", "bisection/send_to"), HasSubstr("pattern_names is no list"));
}

}  // namespace
}  // namespace leadline::test::bisection_file_test
