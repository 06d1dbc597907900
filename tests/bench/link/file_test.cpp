// SPDX-License-Identifier: Apache-2.0
// Which format a name means, what a result is called by itself, and no file at all.
#include "bench/link/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/link/reader.hpp"
#include "bench/link/result_fixture.hpp"
#include "result/file_kind.hpp"

namespace leadline::test {
namespace {

using result::default_file_name;
using result::format_for;
using testing::Each;
using testing::HasSubstr;

std::string error_of(const std::string& path, std::optional<ResultFormat> given) {
  try {
    format_for(path, given);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return "no error";
}

TEST(FormatFor, FollowsTheExtension) {
  EXPECT_EQ(format_for("run.h5", {}), ResultFormat::hdf5);
  EXPECT_EQ(format_for("a.json/run.hdf5", {}), ResultFormat::hdf5);
  EXPECT_EQ(format_for("run.sion", {}), ResultFormat::sion);
  EXPECT_EQ(format_for("run.json", {}), ResultFormat::json);
  EXPECT_EQ(format_for("-", {}), ResultFormat::json);
  EXPECT_EQ(format_for("", {}), ResultFormat::hdf5);
}

TEST(FormatFor, FollowsTheOptionWhereTheNameSaysNothing) {
  EXPECT_EQ(format_for("run.dat", ResultFormat::hdf5), ResultFormat::hdf5);
  EXPECT_EQ(format_for("/dev/null", ResultFormat::json), ResultFormat::json);
  EXPECT_EQ(format_for("", ResultFormat::json), ResultFormat::json);
  EXPECT_EQ(format_for("", ResultFormat::none), ResultFormat::none);
  EXPECT_EQ(format_for("run.json", ResultFormat::json), ResultFormat::json);
}

TEST(FormatFor, RefusesWhatSaysNothingOrTwoThings) {
  EXPECT_THAT(error_of("run.dat", {}), HasSubstr("run.dat"));
  EXPECT_THAT(error_of("run", {}), HasSubstr("--format"));
  EXPECT_THAT(error_of("run.json", ResultFormat::hdf5), HasSubstr("contradict"));
  EXPECT_THAT(error_of("run.sion", ResultFormat::hdf5), HasSubstr("contradict"));
  EXPECT_THAT(error_of("-", ResultFormat::hdf5), HasSubstr("contradict"));
  EXPECT_THAT(error_of("run.h5", ResultFormat::none), HasSubstr("--format none"));
}

TEST(DefaultFileName, HasTheTimeInIt) {
  EXPECT_EQ(default_file_name("link", ResultFormat::hdf5, 1769903999), "leadline-link-20260131T235959Z.h5");
  EXPECT_EQ(default_file_name("topology", ResultFormat::json, 0), "leadline-topology-19700101T000000Z.json");
  EXPECT_EQ(default_file_name("link", ResultFormat::sion, 0), "leadline-link-19700101T000000Z.sion");
  EXPECT_EQ(default_file_name("link", ResultFormat::none, 0), "");
}

TEST(LinkFile, IsOfTheKindAskedFor) {
  const Folder folder;
  const auto errors = run_ranks({3}, [&](auto& cluster) {
    bench::link::LinkFileSetup setup = setup_for(cluster, folder / "run.dat");
    setup.format = ResultFormat::none;
    const auto none = bench::link::open_link_file(cluster, result_so_far(3), setup);
    none->reserve_repeats(1);
    none->write({}, PairRow(3));
    none->mark_incomplete("x");
    none->finish({});
    EXPECT_EQ(none->path(), "");

    // Rank 0's name counts: a name with the time in it may differ from rank to rank.
    setup.format = ResultFormat::hdf5;
    setup.path = folder / ("run" + std::to_string(cluster.rank()) + ".h5");
    const auto hdf5 = bench::link::open_link_file(cluster, result_so_far(3), setup);
    EXPECT_EQ(hdf5->path(), folder / "run0.h5");

    setup.format = ResultFormat::sion;
    setup.path = folder / ("run" + std::to_string(cluster.rank()) + ".sion");
    const auto sion = bench::link::open_link_file(cluster, result_so_far(3), setup);
    EXPECT_EQ(sion->path(), folder / "run0.sion");
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.dat"));
  EXPECT_TRUE(Reader(folder / "run0.h5").is_open());
  EXPECT_FALSE(std::filesystem::exists(folder / "run1.h5"));
  EXPECT_EQ(result::kind_of_file(folder / "run0.sion"), result::FileKind::sion);
  EXPECT_FALSE(std::filesystem::exists(folder / "run1.sion"));
}

}  // namespace
}  // namespace leadline::test
