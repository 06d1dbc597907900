// SPDX-License-Identifier: Apache-2.0
// Which phases and times of a file test are judged, and that a file says what its run said.
#include "bench/io/observed.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "bench/io/output.hpp"
#include "bench/io/result_fixture.hpp"

namespace leadline::test::io_observed_test {
namespace {

using bench::io::diagnosed;
using bench::io::Header;
using bench::io::IoOperation;
using bench::io::judged_findings;
using bench::io::JudgedFindings;
using bench::io::JudgedPhase;
using bench::io::JudgedRow;
using bench::io::targets_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Header header_with(std::vector<std::string> files, std::int64_t num_ranks = 3) {
  Header header;
  header.num_ranks = num_ranks;
  header.movement = "N-N";
  header.files = std::move(files);
  header.options = {{"sync", "inside"}, {"collective", "false"}};
  return header;
}

TEST(TargetsOfFiles, AreFoldersWhereThereAreSeveralElseSharedFiles) {
  EXPECT_THAT(targets_of(header_with({"/a/x", "/b/y", "z"})), ElementsAre("/a", "/b", "."));
  EXPECT_THAT(targets_of(header_with({"/a/x", "/a/y"})), ElementsAre("/a/x", "/a/y"));
  EXPECT_THAT(targets_of(header_with({"/a/x", "/a/y", "/a/z"})), IsEmpty()) << "a file for each rank";
}

constexpr std::int32_t num_rows = 6;  // ranks, one a host

diagnosis::Layout six_hosts() {
  diagnosis::Layout layout;
  for (std::uint32_t host = 0; host < num_rows; ++host) {
    layout.host_of.push_back(host);
    layout.host_names.push_back("n" + std::to_string(host));
  }
  return layout;
}

Header six_ranks() {
  std::vector<std::string> files;
  for (int rank = 0; rank < num_rows; ++rank) files.push_back("/scratch/f." + std::to_string(rank));
  return header_with(files, num_rows);
}

/// Rank 4 takes three times as long, in a way that a test chooses.
std::vector<JudgedRow> rows_of(std::size_t num_phases, double JudgedRow::*slow) {
  std::vector<JudgedRow> rows;
  for (std::size_t phase = 0; phase < num_phases; ++phase) {
    for (std::int32_t rank = 0; rank < num_rows; ++rank) {
      JudgedRow& row = rows.emplace_back();
      row.rank = row.file = rank;
      row.phase = static_cast<std::int32_t>(phase);
      row.bytes = 1 << 20;
      row.call_ns = 1e6 + 1e3 * (rank + 7 * static_cast<double>(phase % 3));
      if (rank == 4) row.*slow += 2e6;
    }
  }
  return rows;
}

std::vector<JudgedPhase> phases_of(std::size_t num, const JudgedPhase& each) { return {num, each}; }

std::vector<std::string> faults_of(const std::vector<DiagnosedSlice>& slices) {
  std::vector<std::string> names;
  for (const DiagnosedSlice& slice : slices) {
    for (const Fault& fault : slice.diagnosis.faults) {
      if (counts(fault)) names.push_back(slice.pattern + ": " + fault.name);
    }
  }
  return names;
}

TEST(JudgedTimes, AreThoseInCallsSyncAndClose) {
  const auto phases = phases_of(4, {IoOperation::write, true, ""});
  for (double JudgedRow::*time :
       {&JudgedRow::call_ns, &JudgedRow::wait_ns, &JudgedRow::sync_ns, &JudgedRow::close_ns}) {
    EXPECT_THAT(faults_of(diagnosed(six_ranks(), phases, rows_of(4, time), {}, six_hosts(), {})),
                ElementsAre("write: host n4"));
  }
  Header outside = six_ranks();
  outside.options = {{"sync", "outside"}};
  EXPECT_THAT(faults_of(diagnosed(outside, phases, rows_of(4, &JudgedRow::sync_ns), {}, six_hosts(), {})), IsEmpty());
}

TEST(JudgedTimes, OfMetadataAreThoseOfAllCallsAndCountItems) {
  const auto phases = phases_of(4, {IoOperation::create, true, ""});
  for (double JudgedRow::*time :
       {&JudgedRow::call_ns, &JudgedRow::open_ns, &JudgedRow::sync_ns, &JudgedRow::close_ns}) {
    std::vector<JudgedRow> rows = rows_of(4, time);
    for (JudgedRow& row : rows) {
      row.bytes = 0;
      row.num_objects = 1000;
    }
    const auto slices = diagnosed(six_ranks(), phases, rows, {}, six_hosts(), {});
    EXPECT_THAT(faults_of(slices), ElementsAre("create: host n4"));
    EXPECT_NEAR(slices.at(0).diagnosis.faults.at(0).phases->usual_bytes_per_s, 1e6, 1e4) << "items a second";
  }
}

TEST(JudgedTimes, OfASharedFileAreSyncedByAllOfItsRanks) {
  Header shared = six_ranks();
  shared.movement = "N-1";
  shared.files = std::vector<std::string>{"/scratch/f"};
  std::vector<JudgedRow> rows = rows_of(4, &JudgedRow::sync_ns);
  for (JudgedRow& row : rows) row.file = 0;
  const auto phases = phases_of(4, {IoOperation::write, true, ""});
  EXPECT_THAT(faults_of(diagnosed(shared, phases, rows, {}, six_hosts(), {})), IsEmpty());
}

TEST(JudgedTargets, AreThoseThatTheFileSystemTellsOfEveryRank) {
  Header header = six_ranks();
  header.file_system = "lustre";
  std::vector<JudgedRow> rows = rows_of(4, &JudgedRow::call_ns);
  for (JudgedRow& row : rows) {
    row.storage_target = row.rank % 3;
    if (row.rank == 1) row.call_ns += 2e6;  // as rank 4, which is on the same target
  }
  const auto phases = phases_of(4, {IoOperation::write, true, ""});
  const auto names = [&] {
    const auto slices = diagnosed(header, phases, rows, {}, six_hosts(), {});
    std::string text;
    for (const Fault& fault : slices.at(0).diagnosis.faults) text += fault.name + "; ";
    return text;
  };
  EXPECT_THAT(names(), HasSubstr("OST0001"));
  for (JudgedRow& row : rows) {
    if (row.rank == 0) row.storage_target = storage::several_targets;
  }
  const auto slices = diagnosed(header, phases, rows, {}, six_hosts(), {});
  EXPECT_THAT(names(), testing::Not(HasSubstr("target")));
  EXPECT_THAT(slices[0].diagnosis.notes, testing::Contains(HasSubstr("striped over several storage targets")));
}

TEST(JudgedPhases, AreNoReadsFromTheCacheAndNoneThatFailed) {
  const auto rows = rows_of(5, &JudgedRow::call_ns);
  const auto told = [&](const std::vector<JudgedPhase>& phases) {
    return diagnosed(six_ranks(), phases, rows, {}, six_hosts(), {});
  };
  for (const char* source : {"cache", "mixed"}) {
    const auto slices = told(phases_of(5, {IoOperation::read, true, source}));
    ASSERT_EQ(slices.size(), 1U);
    EXPECT_THAT(slices[0].diagnosis.untested, HasSubstr("page cache")) << source;
  }
  EXPECT_THAT(told(phases_of(5, {IoOperation::write, false, ""})), IsEmpty());
  auto some = phases_of(5, {IoOperation::read, true, "storage"});
  some[1].source = "cache";
  const auto slices = told(some);
  EXPECT_THAT(faults_of(slices), ElementsAre("read: host n4"));
  EXPECT_EQ(slices[0].diagnosis.num_phases, 4U);
  EXPECT_THAT(slices[0].diagnosis.notes, testing::Contains(HasSubstr("1 read that came from the page cache")));
}

TEST(JudgedPhases, AreWithoutRanksThatWereLost) {
  const auto rows = rows_of(4, &JudgedRow::call_ns);
  Finding finding;
  finding.id = "ranks_lost";
  finding.ranks = {4};
  const JudgedFindings lost = judged_findings({finding});
  const auto phases = phases_of(4, {IoOperation::write, true, ""});
  const Diagnosis all = diagnosed(six_ranks(), phases, rows, lost, six_hosts(), {}).at(0).diagnosis;
  EXPECT_EQ(all.num_measured, 4U * 5);
  EXPECT_THAT(all.faults, IsEmpty());
  EXPECT_THAT(all.notes, testing::Contains("rank 4 was lost during the run, and is not judged"));
}

TEST(JudgedPhases, OfCollectiveCallsAndWithoutFilesTellNothing) {
  const auto phases = phases_of(4, {IoOperation::write, true, ""});
  const auto why = [&](const Header& header) {
    return diagnosed(header, phases, rows_of(4, &JudgedRow::call_ns), {}, six_hosts(), {}).at(0).diagnosis.untested;
  };
  Header collective = six_ranks(), without = six_ranks();
  collective.movement = "N-1";
  collective.options = {{"collective", "true"}};
  without.files.clear();
  EXPECT_THAT(why(collective), HasSubstr("collective"));
  EXPECT_THAT(why(without), HasSubstr("no files"));
}

/// What a rank does in collective calls of 3 ms: how long once all have come, and for how many it moves the bytes.
struct Joint {
  double ms = 0, num_served = 1;
};

std::vector<DiagnosedSlice> of_collective_calls(const std::function<Joint(std::int32_t rank)>& joint_of) {
  Header collective = six_ranks();
  collective.movement = "N-1";
  collective.files = std::vector<std::string>{"/scratch/f"};
  collective.options = {{"sync", "none"}, {"collective", "true"}};
  std::vector<JudgedRow> rows = rows_of(4, &JudgedRow::call_ns);
  for (JudgedRow& row : rows) {
    const Joint joint = joint_of(row.rank);
    row.file = 0;
    row.call_ns = 3e6;
    row.joint_ns = 1e6 * joint.ms * (1 + 0.01 * row.rank);
    row.system_bytes = static_cast<std::uint64_t>(joint.num_served * static_cast<double>(row.bytes));
  }
  return diagnosed(collective, phases_of(4, {IoOperation::write, true, ""}), rows, {}, six_hosts(), {});
}

TEST(JudgedTimes, OfCollectiveCallsBeginWhenTheLastRankHasCome) {
  const auto slices = of_collective_calls([](std::int32_t rank) {
    return rank == 0 ? Joint{0.001, 0} : rank == 4 ? Joint{2, 1.2} : Joint{0.5, 1.2};
  });
  EXPECT_THAT(faults_of(slices), ElementsAre("write: host n4"));
  EXPECT_EQ(slices[0].diagnosis.num_measured, 4U * 5) << "rank 0 does no I/O";
  EXPECT_THAT(slices[0].diagnosis.notes, testing::Contains(HasSubstr("once the last one has come")));
}

TEST(JudgedTimes, OfCollectiveCallsAreThoseOfTheBytesThatARankMoves) {
  const auto slices = of_collective_calls([](std::int32_t rank) {
    return rank % 2 == 0 ? Joint{2, 1.6} : Joint{0.5, 0.4};
  });
  EXPECT_THAT(faults_of(slices), IsEmpty()) << "these do the I/O of others";
}

TEST(JudgedTimes, OfCollectiveCallsTellNothingWhereFewRanksDoTheIo) {
  const auto why = [](const std::function<Joint(std::int32_t rank)>& joint_of) {
    const auto slices = of_collective_calls(joint_of);
    EXPECT_THAT(faults_of(slices), IsEmpty());
    return slices.at(0).diagnosis.untested;
  };
  EXPECT_THAT(why([](std::int32_t rank) {
                return rank == 0 ? Joint{2, 6} : Joint{0.3, 0};
              }),
              HasSubstr("rank 0 did the I/O of all: whether it or the storage is slow"));
  EXPECT_THAT(why([](std::int32_t rank) {
                return rank % 3 == 0 ? Joint{2, 3} : Joint{0.3, 0};
              }),
              HasSubstr("ranks 0,3 did the I/O"));
  for (const double num_served : {0.0, 2.0}) {
    EXPECT_THAT(why([&](std::int32_t) { return Joint{1, num_served}; }), HasSubstr("who does the I/O is not known"));
  }
  EXPECT_THAT(why([](std::int32_t) { return Joint{0, 1}; }), HasSubstr("when each came was not kept"));
}

TEST(JudgedTimes, OfCollectiveCallsOnAFileOfOnesOwnAreThoseOfAnyCall) {
  Header collective = six_ranks();
  collective.options = {{"sync", "none"}, {"collective", "true"}};
  const auto phases = phases_of(4, {IoOperation::write, true, ""});
  EXPECT_THAT(faults_of(diagnosed(collective, phases, rows_of(4, &JudgedRow::call_ns), {}, six_hosts(), {})),
              ElementsAre("write: host n4"));
}

TEST(IoDiagnosis, IsTheSameOfTheFile) {
  const Folder folder;
  run_ranks({5, 2}, [&](auto& cluster) { write_io(cluster, io_setup(cluster, folder / "run.h5")); });
  const bench::io::Hdf5Reader reader(folder / "run.h5");
  std::vector<JudgedPhase> phases;
  std::vector<JudgedRow> rows;
  for (int index = 0; index < num_measured_phases; ++index) {
    const bench::io::PhaseSummary summary = phase_summary_of(index);
    const bool is_read = summary.position.operation == IoOperation::read;
    phases.push_back({summary.position.operation, summary.is_complete, is_read ? name_of(summary.source) : ""});
    for (int rank = 0; rank < 5; ++rank) rows.push_back(judged_row(rank, index, rank_phase_of(index, rank)));
  }
  diagnosis::Layout layout;
  layout.host_of = {0, 0, 1, 1, 2};
  layout.host_names = {"a", "b", "c"};
  const auto of_file = diagnosed(reader, layout, {});
  const auto of_run = diagnosed(header_of(io_so_far()), phases, rows, {}, layout, {});
  ASSERT_EQ(of_file.size(), of_run.size());
  for (std::size_t index = 0; index < of_file.size(); ++index) {
    EXPECT_EQ(of_file[index].pattern, of_run[index].pattern);
    EXPECT_EQ(of_file[index].diagnosis.num_measured, of_run[index].diagnosis.num_measured);
    EXPECT_EQ(of_file[index].diagnosis.untested, of_run[index].diagnosis.untested);
    EXPECT_EQ(of_file[index].diagnosis.notes, of_run[index].diagnosis.notes);
  }
}

}  // namespace
}  // namespace leadline::test::io_observed_test
