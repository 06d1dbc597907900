// SPDX-License-Identifier: Apache-2.0
// Results of both formats, sound and damaged, through the one reader.
#include "bench/link/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "bench/link/convert.hpp"
#include "bench/link/hdf5_reader.hpp"
#include "bench/link/result_fixture.hpp"
#include "bench/link/sion_offsets.hpp"
#include "bench/link/slice_facts.hpp"
#include "result/file_kind.hpp"

namespace leadline::test::result_reader_test {
namespace {

using bench::link::ResultReader;
using result::FileKind;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 4;

/// A small run of two repeats and two sizes.
void write_run(const std::string& path, ResultFormat format) {
  const auto errors = run_ranks({num_ranks, 2}, [&](auto& cluster) {
    const bench::link::LinkResult so_far = result_so_far(num_ranks);
    bench::link::LinkFileSetup setup = setup_for(cluster, path);
    setup.format = format;
    setup.rounds = [&](int rank, int repeat) { return std::vector<std::int32_t>(num_ranks, repeat + rank); };
    const auto file = bench::link::open_link_file(cluster, so_far, setup);
    file->reserve_repeats(2);
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (int size_index = 0; size_index < 2; ++size_index) {
        const bench::link::Slice slice{
            .repeat = repeat, .permutation = repeat, .size_index = size_index, .message_size_bytes = 8};
        file->write(slice, row_of(cluster, slice));
      }
    }
    file->finish(finished(so_far));
  });
  EXPECT_THAT(errors, Each(""));
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Reads all there is.
void read_all(const std::string& path) {
  const auto reader = ResultReader::open(path);
  const bench::link::Header& header = reader->header();
  for (std::int64_t rank = 0; rank < header.num_ranks; ++rank) {
    (void)reader->placement(rank);
    (void)reader->location(rank);
    (void)reader->ranks_on_seat(rank);
    for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
      (void)reader->rounds(repeat, rank);
      for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
        (void)reader->row(repeat, size, rank);
        (void)reader->all_to_all_ns(repeat, size, rank);
      }
    }
  }
}

/// Empty where all could be read.
std::string error_of_reading(const std::string& path) {
  try {
    read_all(path);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(path));
    return error.what();
  }
  return "";
}

class EitherFormat : public ::testing::TestWithParam<ResultFormat> {
 protected:
  Folder folder_;
  std::string path_ = folder_ / "run";
  void SetUp() override { write_run(path_, GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(, EitherFormat, ::testing::Values(ResultFormat::hdf5, ResultFormat::sion),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(EitherFormat, SaysTheSame) {
  EXPECT_EQ(result::kind_of_file(path_), GetParam() == ResultFormat::hdf5 ? FileKind::hdf5 : FileKind::sion);
  const auto reader = ResultReader::open(path_);
  const bench::link::Header& header = reader->header();
  EXPECT_TRUE(header.complete);
  EXPECT_EQ(header.num_ranks, num_ranks);
  EXPECT_TRUE(header.has_rounds);
  EXPECT_EQ(header.num_permutations, 2);
  EXPECT_EQ(header.provenance.size(), 20U);
  EXPECT_EQ(result::option_text(header, "seed"), "7");
  EXPECT_EQ(header.repeats.at(1).permutation, 1);
  EXPECT_EQ(header.retests->at(1).to, 2);
  EXPECT_EQ(header.end_utc, "2026-01-31T23:59:59Z");
  EXPECT_EQ(reader->placement(2).host, "node1");
  EXPECT_EQ(reader->placement(2).num_cpus, 2);
  EXPECT_THAT(reader->rounds(1, 2), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(reader->ranks_on_seat(1), ElementsAre(2, 3));
  EXPECT_THAT(reader->location(1), ElementsAre(1, 0, 0, 0));
  EXPECT_EQ(reader->row(1, 1, 2)[&PairRecord::time_ns_p99][1], 2010201.4);
  EXPECT_THAT(reader->all_to_all_ns(0, 0, 0), ElementsAre());
}

TEST_P(EitherFormat, ThatIsCutOffIsAnError) {
  const std::string whole = contents_of(path_);
  for (std::size_t size = 0; size + 1 < whole.size(); size += 1 + whole.size() / 150) {
    write_bytes(path_, whole.substr(0, size));
    EXPECT_NE(error_of_reading(path_), "") << "cut after " << size << " of " << whole.size();
  }
}

TEST_P(EitherFormat, WithATimeThatCannotBeIsAnError) {
  std::string bytes = contents_of(path_);
  const double time = 1000000.2;
  const double wrong = -1;
  const std::string known(reinterpret_cast<const char*>(&time), sizeof time);
  const auto at = bytes.find(known);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, sizeof wrong, reinterpret_cast<const char*>(&wrong), sizeof wrong);
  write_bytes(path_, bytes);
  EXPECT_THAT(error_of_reading(path_), HasSubstr("-1 ns"));
}

TEST_P(EitherFormat, BecomesTheOtherAndItselfAgain) {
  const auto reader = ResultReader::open(path_);
  const std::string other = folder_ / "other", again = folder_ / "again";
  if (GetParam() == ResultFormat::hdf5) {
    EXPECT_THAT(bench::link::write_sion(*reader, other, bench::link::SionRecord::extended, "run"),
                ElementsAre("time_ns_p999 of each pair"));
    EXPECT_THAT(bench::link::write_hdf5(*ResultReader::open(other), again), ElementsAre());
  } else {
    EXPECT_THAT(bench::link::write_hdf5(*reader, other), ElementsAre());
    EXPECT_THAT(bench::link::write_sion(*ResultReader::open(other), again, bench::link::SionRecord::extended, "run"),
                ElementsAre());
  }
  EXPECT_EQ(result::kind_of_file(again), result::kind_of_file(path_));
  const auto back = ResultReader::open(again);
  EXPECT_EQ(back->header().nonce, reader->header().nonce);
  EXPECT_EQ(back->header().summary, reader->header().summary);
  EXPECT_EQ(back->header().options.size(), reader->header().options.size());
  for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
    EXPECT_EQ(back->row(1, 1, rank)[&PairRecord::time_ns_max], reader->row(1, 1, rank)[&PairRecord::time_ns_max]);
    EXPECT_EQ(back->row(0, 1, rank)[&PairRecord::count], reader->row(0, 1, rank)[&PairRecord::count]);
    EXPECT_EQ(back->rounds(1, rank), reader->rounds(1, rank));
  }
}

TEST(ResultReader, KnowsWhatIsNoResult) {
  const Folder folder;
  const std::string path = folder / "file";
  const auto status_of = [&](const std::string& name) {
    try {
      read_all(name);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
      return error.status();
    }
    return ExitStatus::ok;
  };
  EXPECT_EQ(status_of(folder / "missing"), ExitStatus::bad_command_line);
  EXPECT_EQ(status_of(folder.path()), ExitStatus::bad_command_line);
  write_bytes(path, "");
  EXPECT_EQ(status_of(path), ExitStatus::run_failed);
  write_bytes(path, "\x89HDF\r\n");
  EXPECT_EQ(status_of(path), ExitStatus::run_failed);
  write_bytes(path, "message size 1 KiB");
  EXPECT_EQ(status_of(path), ExitStatus::bad_command_line);
  EXPECT_EQ(status_of(std::string(SAMPLES) + "sion/06-mpi-single.sion"), ExitStatus::bad_command_line);
  EXPECT_EQ(status_of(std::string(SAMPLES) + "sion/bad/b01_magic.sion"), ExitStatus::bad_command_line);
  write_bytes(path, "sion");
  EXPECT_EQ(status_of(path), ExitStatus::run_failed);
}

/// Damage may hit what nobody reads, or a number that could be another; it must never end in anything but an Error.
/// (The HDF5 library does die of some; the program's own tests see to it that this is an error, too.)
TEST(ResultReader, OfADamagedSionFileReadsItOrSaysWhy) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  write_run(path, ResultFormat::sion);
  const std::string whole = contents_of(path);
  std::mt19937 random(7);
  int num_errors = 0;
  for (int attempt = 0; attempt < 600; ++attempt) {
    std::string bytes = whole;
    const std::size_t reach = attempt % 2 == 0 ? std::min<std::size_t>(bytes.size(), 6000) : bytes.size();
    for (int flips = 0; flips < 1 + attempt % 4; ++flips) bytes[random() % reach] = static_cast<char>(random());
    write_bytes(path, bytes);
    num_errors += error_of_reading(path).empty() ? 0 : 1;
  }
  EXPECT_GT(num_errors, 40);
}

TEST(ResultReader, ReadsLaterFormatsAsFarAsItKnowsWhatIsThere) {
  const Folder folder;
  write_run(folder / "run.h5", ResultFormat::hdf5);
  {
    const hid_t file = H5Fopen((folder / "run.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    constexpr int later = 99;
    H5Awrite(attribute, H5T_NATIVE_INT, &later);
    H5Aclose(attribute);
    H5Fclose(file);
  }
  EXPECT_EQ(error_of_reading(folder / "run.h5"), "");
  {
    const hid_t file = H5Fopen((folder / "run.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "message_size_bytes", H5P_DEFAULT);
    H5Fclose(file);
  }
  EXPECT_THAT(error_of_reading(folder / "run.h5"),
              AllOf(HasSubstr("format version 99; this program knows up to 3"), HasSubstr("newer")));

  write_run(folder / "run.sion", ResultFormat::sion);
  std::string bytes = contents_of(folder / "run.sion");
  const auto at = bytes.find("LEADLINE");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 8] = 99;
  write_bytes(folder / "run.sion", bytes);
  EXPECT_THAT(error_of_reading(folder / "run.sion"), AllOf(HasSubstr("99"), HasSubstr("newer")));
}

TEST(ResultReader, TellsAnExtensionOfAnotherRun) {
  const Folder folder;
  write_run(folder / "run.sion", ResultFormat::sion);
  std::string bytes = contents_of(folder / "run.sion");
  // The second rank's extension says that it is rank 1.
  const auto at = bytes.find("LEADLINE", bytes.find("LEADLINE") + 1);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 24 + 4] = 2;
  write_bytes(folder / "run.sion", bytes);
  EXPECT_THAT(error_of_reading(folder / "run.sion"), HasSubstr("EXTENSION"));
}

/// LinkTest's times are single precision, ours are not: seconds must come back from nanoseconds all the same.
TEST(SionOffsets, SecondsAndNanosecondsLeadBackToEachOther) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-9, 1);
  for (int attempt = 0; attempt < 100'000; ++attempt) {
    const double time_s = std::pow(10.0, exponent(random));
    EXPECT_NEAR(bench::link::seconds_of_ns(bench::link::ns_of_seconds(time_s)), time_s, 1e-15 * time_s);
    const auto single = static_cast<double>(static_cast<float>(time_s));
    EXPECT_EQ(bench::link::seconds_of_ns(bench::link::ns_of_seconds(single)), single);
  }
}

TEST(SliceFacts, AreTheSameWithAndWithoutASummary) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  write_run(path, ResultFormat::hdf5);
  bench::link::Hdf5Reader reader(path);
  const auto known = bench::link::slice_facts(reader, 1, 1);
  EXPECT_EQ(known.time_ns_median, 2000) << "from the summary";
  const auto counted = bench::link::slice_facts(reader, 0, 0);
  EXPECT_EQ(counted.num_pairs, 12U);
  EXPECT_EQ(counted.time_ns_min, 1000000.2);
  EXPECT_EQ(counted.time_ns_max, 1000302.2);
  EXPECT_DOUBLE_EQ(counted.time_ns_median, (1000102.2 + 1000200.2) / 2);
}

}  // namespace
}  // namespace leadline::test::result_reader_test
