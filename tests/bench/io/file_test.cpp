// SPDX-License-Identifier: Apache-2.0
// What readers make of the file of a parallel file test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/io/hdf5_reader.hpp"
#include "bench/io/json.hpp"
#include "bench/io/output.hpp"
#include "bench/io/result_fixture.hpp"

namespace leadline::test::io_file_test {
namespace {

using bench::io::Hdf5Reader;
using bench::io::kept_phase;
using bench::io::kept_phases;
using bench::io::KeptPhase;
using bench::io::StoredPhase;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;

void write_file(const std::string& path) {
  run_ranks({num_ranks, 2}, [&](auto& cluster) { write_io(cluster, io_setup(cluster, path)); });
}

TEST(IoFile, IsReadAsFarAsADescriptionTakes) {
  const Folder folder;
  write_file(folder / "run.h5");
  const Hdf5Reader reader(folder / "run.h5");
  const bench::io::Header& header = reader.header();
  EXPECT_TRUE(header.complete);
  EXPECT_EQ(header.num_ranks, num_ranks);
  EXPECT_EQ(header.movement, "N-M-1");
  EXPECT_EQ(header.order, "strided");
  EXPECT_EQ(header.backend_library, "POSIX");
  EXPECT_EQ(header.file_system, "ext4");
  EXPECT_EQ(header.num_objects, 12U);
  EXPECT_EQ(header.object_size_bytes, 4096U);
  EXPECT_EQ(header.run, std::numeric_limits<std::uint64_t>::max());
  EXPECT_THAT(header.io_ranks, ElementsAre(0, 3));
  EXPECT_THAT(header.files, ElementsAre("/scratch/leadline-io", "/scratch/two"));
  EXPECT_EQ(header.num_phases, num_phases_of_io);
  EXPECT_EQ(reader.placement(4).host, "node2");

  const std::vector<StoredPhase> stored = reader.phases();
  ASSERT_EQ(stored.size(), 4U);
  EXPECT_EQ(stored[3].operation, bench::io::IoOperation::read);
  EXPECT_EQ(stored[3].repeat, 1);
  EXPECT_EQ(stored[3].summary, bench::io::phase_text(phase_summary_of(3), 32767));
  const std::vector<KeptPhase> phases = kept_phases(reader);
  ASSERT_EQ(phases.size(), 4U);
  EXPECT_EQ(phases[0].operation, bench::io::IoOperation::write);
  EXPECT_TRUE(phases[0].is_complete);
  EXPECT_EQ(phases[0].is_durable, true);
  EXPECT_EQ(phases[0].source, std::nullopt);
  EXPECT_EQ(phases[3].bytes, 1U << 20);
  EXPECT_EQ(phases[3].wall_ns, 5e6);
  EXPECT_EQ(phases[3].bytes_per_s, 4e9);
  EXPECT_EQ(phases[3].bytes_per_s_io, 4e9 + 2);
  EXPECT_FALSE(phases[3].is_of_earlier_version);
  EXPECT_EQ(phases[3].source, "mixed");
  EXPECT_FALSE(phases[3].is_durable);
}

TEST(IoFile, ThatWasKilledHasThePhasesUntilThen) {
  const Folder folder;
  run_ranks({num_ranks}, [&](auto& cluster) {
    const auto file = bench::io::open_io_file(cluster, io_so_far(), io_setup(cluster, folder / "run.h5"));
    write_phase(*file, cluster, phase_summary_of(0));
    write_phase(*file, cluster, failed_phase(1));
  });
  const Hdf5Reader reader(folder / "run.h5");
  EXPECT_FALSE(reader.header().complete);
  EXPECT_FALSE(reader.header().summary);
  const std::vector<KeptPhase> phases = kept_phases(reader);
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_FALSE(phases[1].is_complete);
  EXPECT_EQ(phases[1].error, "reading FILE failed (Input/output error)");
  EXPECT_TRUE(std::isnan(phases[1].bytes_per_s));
  EXPECT_EQ(phases[1].num_mismatches, 3U);
}

TEST(IoFile, IsReadWithoutItsHoles) {
  const Folder folder;
  run_ranks({2}, [&](auto& cluster) {
    auto setup = io_setup(cluster, folder / "run.h5");
    setup.num_phases = 50'000'000;
    const auto file = bench::io::open_io_file(cluster, io_so_far(2), setup);
    write_phase(*file, cluster, phase_summary_of(0));
  });
  EXPECT_EQ(Hdf5Reader(folder / "run.h5").phases().size(), 1U);
}

TEST(KeptPhase, KnowsWhetherItWasInterruptedWhereTheFileSaysSo) {
  const std::string summary = bench::io::phase_text(interrupted_phase(3), 32767);
  const KeptPhase phase = kept_phase({.summary = summary}, "run.h5");
  EXPECT_TRUE(phase.is_interrupted);
  EXPECT_EQ(phase.error, "interrupted: told to stop");
  std::string older = summary;
  const std::string member = "\"is_interrupted\":true,";
  const auto at = older.find(member);
  ASSERT_NE(at, std::string::npos) << summary;
  EXPECT_FALSE(kept_phase({.summary = older.erase(at, member.size())}, "run.h5").is_interrupted);
}

TEST(KeptPhase, OfAnEarlierVersionSaysWhatItsHeadlineWas) {
  std::string older = bench::io::phase_text(phase_summary_of(3), 32767);
  older.replace(older.find("\"bytes_per_s\":4"), 15, "\"bytes_per_s\":9");
  const std::string member = "\"bytes_per_s_io\"";
  older.replace(older.find(member), member.size(), "\"x\"");
  const KeptPhase phase = kept_phase({.summary = older}, "run.h5");
  EXPECT_TRUE(phase.is_of_earlier_version);
  EXPECT_EQ(phase.bytes_per_s, 4e9) << "by the time, as in all versions";
  EXPECT_EQ(phase.bytes_per_s_io, 9e9);
}

TEST(KeptPhase, OfADamagedSummaryIsAnError) {
  const std::string whole = bench::io::phase_text(phase_summary_of(3), 32767);
  const auto without = [&](const std::string& name) {
    std::string text = whole;
    return text.replace(text.find("\"" + name + "\""), 2, "\"x");
  };
  EXPECT_EQ(kept_phase({.summary = whole}, "run.h5").bytes, 1U << 20);
  for (const std::string& summary : {std::string("{"), std::string("[]"), std::string(""), whole.substr(0, 200),
                                     without("error"), without("bytes"), without("num_mismatches"), without("wall_ns"),
                                     without("bytes_per_s"), without("source"), without("is_durable")}) {
    EXPECT_THAT(error_of(ExitStatus::run_failed, [&] { return kept_phase({.summary = summary}, "run.h5"); }),
                AllOf(HasSubstr("run.h5"), HasSubstr("/io/phases/summary of the write of repeat 0")))
        << summary;
  }
}

/// What reading says of a file from which something was taken.
std::string error_after(const std::string& whole, const std::function<void(hid_t file)>& damage) {
  return error_of_damaged(whole, damage, [](const std::string& path) { return kept_phases(Hdf5Reader(path)).size(); });
}

void set_first_byte(hid_t file, const char* table, unsigned char value) {
  const hid_t dataset = H5Dopen2(file, table, H5P_DEFAULT);
  std::vector<unsigned char> all(num_phases_of_io, value);
  H5Dwrite(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
  H5Dclose(dataset);
}

TEST(IoFile, ThatIsDamagedIsAnError) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  write_file(path);
  const auto without = [&](const char* object) {
    return error_after(path, [&](hid_t file) { H5Ldelete(file, object, H5P_DEFAULT); });
  };
  for (const char* object : {"io", "io/phases", "io/phases/operation", "io/phases/repeat", "io/phases/summary"}) {
    EXPECT_THAT(without(object), HasSubstr(object));
  }
  for (const char* name :
       {"movement", "order", "backend_library", "file_system", "num_objects", "object_size_bytes", "run"}) {
    const auto said = error_after(path, [&](hid_t file) { H5Adelete_by_name(file, "io", name, H5P_DEFAULT); });
    EXPECT_THAT(said, AllOf(HasSubstr("/io"), HasSubstr(name)));
  }
  const auto swapped = [&](const char* table, const char* other) {
    return error_after(path, [&](hid_t file) {
      H5Ldelete(file, table, H5P_DEFAULT);
      H5Lcreate_hard(file, other, file, table, H5P_DEFAULT, H5P_DEFAULT);
    });
  };
  EXPECT_THAT(swapped("io/phases/state", "io/ranks/file"), HasSubstr("another shape"));
  EXPECT_THAT(swapped("io/phases/repeat", "io/files"), HasSubstr("another shape"));
  EXPECT_THAT(swapped("io/phases/summary", "io/phases/repeat"), HasSubstr("another kind"));
  EXPECT_THAT(swapped("io/io_ranks", "io/ranks/file"), HasSubstr("io_ranks is no list"));
  EXPECT_THAT(swapped("io/files", "io/ranks/file"), HasSubstr("files is no list"));
  EXPECT_THAT(error_after(path, [](hid_t file) { set_first_byte(file, "io/phases/state", 9); }),
              HasSubstr("phase 0 has state 9"));
  EXPECT_THAT(error_after(path, [](hid_t file) { set_first_byte(file, "io/phases/operation", 77); }),
              HasSubstr("operation 77"));
}

}  // namespace
}  // namespace leadline::test::io_file_test
