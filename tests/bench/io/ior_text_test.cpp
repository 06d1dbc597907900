// SPDX-License-Identifier: Apache-2.0
// What IOR printed here, and texts that are cut off, of a run that failed, or something else.
#include "bench/io/ior_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "support/folder.hpp"

namespace leadline::bench::io::ior_text_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string shared = SAMPLES "texts/ior.txt", file_per_process = SAMPLES "texts/ior_3.0.txt";

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), other);
}

std::string without_from(const std::string& text, const std::string& part) { return text.substr(0, text.find(part)); }

class IorTexts : public testing::Test {
 protected:
  std::string written(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  IorText read(const std::string& text) { return read_ior_text(written(text)); }
  Error refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "taken: " << text;
    return {ExitStatus::ok, ""};
  }
  const std::string text_ = test::contents_of(shared), old_text_ = test::contents_of(file_per_process);

 private:
  test::Folder folder_;
  const std::string path_ = folder_ / "text";
};

TEST_F(IorTexts, OptionsOfOneSharedFile) {
  const IorText text = read_ior_text(shared);
  EXPECT_THAT(text.program, HasSubstr("IOR-4."));
  const IoRequest& request = text.result.request;
  EXPECT_EQ(request.movement, schedule::Movement::n_1);
  EXPECT_EQ(request.order, schedule::Order::strided);
  EXPECT_EQ(request.object_size_bytes, 262'144u);
  EXPECT_EQ(request.block_size_bytes, 1'048'576u);
  EXPECT_EQ(request.num_objects, 8u);
  EXPECT_EQ(request.repeat, 2);
  EXPECT_EQ(request.backend, "posix");
  EXPECT_EQ(request.sync, SyncTiming::inside);
  EXPECT_EQ(request.cache_path, storage::CachePath::buffered);
  EXPECT_EQ(request.read_shift, ReadShift::none);
  EXPECT_EQ(text.result.provenance.num_ranks, 2);
  EXPECT_EQ(text.result.provenance.num_hosts, 1);
  EXPECT_THAT(text.host, Not(IsEmpty()));
  EXPECT_THAT(text.result.files, ElementsAre("testfile"));
  EXPECT_THAT(text.unknown_options, IsEmpty());
  EXPECT_TRUE(text.result.complete);
}

TEST_F(IorTexts, APhaseIsARowOfTheTable) {
  const IoResult result = read_ior_text(shared).result;
  ASSERT_EQ(result.phases.size(), 4u);
  for (std::size_t index = 0; index < result.phases.size(); ++index) {
    const PhaseSummary& phase = result.phases[index];
    EXPECT_EQ(phase.position.index, static_cast<int>(index));
    EXPECT_EQ(phase.position.operation, index % 2 == 0 ? IoOperation::write : IoOperation::read);
    EXPECT_EQ(phase.position.repeat, static_cast<int>(index) / 2);
    EXPECT_TRUE(phase.is_complete);
    EXPECT_EQ(phase.bytes, 4u << 20);
    EXPECT_EQ(phase.num_calls, 16u);
    EXPECT_NEAR(phase.bytes_per_s * phase.wall_ns / 1e9 / (4 << 20), 1, 0.02);
    EXPECT_FALSE(phase.is_durability_known);
    EXPECT_EQ(phase.source, ReadSource::not_known);
    EXPECT_EQ(phase.io.num, 0u);
  }
}

TEST_F(IorTexts, AnOlderVersionAndAFileForEachRank) {
  const IorText text = read_ior_text(file_per_process);
  EXPECT_EQ(text.program, "IOR-3.0.1");
  const IoRequest& request = text.result.request;
  EXPECT_EQ(request.movement, schedule::Movement::n_n);
  EXPECT_EQ(request.order, schedule::Order::segmented);
  EXPECT_EQ(request.object_size_bytes, 47'008u);
  EXPECT_EQ(request.num_objects, 6u);
  EXPECT_EQ(request.sync, SyncTiming::none);
  EXPECT_EQ(request.read_shift, ReadShift::hosts);
  EXPECT_EQ(request.read_shift_by, 1);
  EXPECT_EQ(text.result.provenance.num_ranks, 4);
  EXPECT_THAT(text.result.files, testing::SizeIs(4));
  EXPECT_THAT(text.result.files.back(), testing::EndsWith(".00000003"));
  ASSERT_EQ(text.result.phases.size(), 2u);
  EXPECT_EQ(text.result.phases[1].bytes, 4u * 6 * 47'008);
  EXPECT_TRUE(text.result.phases[0].is_durability_known);
  EXPECT_FALSE(text.result.phases[0].is_durable);
  EXPECT_TRUE(text.result.complete);
}

TEST_F(IorTexts, HostsOfRanks) {
  const IorText two = read(replaced(text_, "nodes               : 1", "nodes               : 2"));
  EXPECT_EQ(two.result.provenance.num_hosts, 2);
  const IorText old = read(replaced(old_text_, "(4 per node)", "(1 per node)"));
  EXPECT_EQ(old.result.provenance.num_hosts, 4);
  EXPECT_EQ(old.num_ranks_per_host, 1);
}

TEST_F(IorTexts, WhatAScriptSaysIsNotKnown) {
  const IorText text = read(replaced(text_, " -e", " -f script"));
  EXPECT_THAT(text.unknown_options, ElementsAre("preallocate", "direct", "sync"));
  EXPECT_THAT(text.left_out, Contains(HasSubstr("script")));
  EXPECT_FALSE(text.result.phases.front().is_durability_known);
}

TEST_F(IorTexts, LettersOfOptionsAreTold) {
  const auto request_with = [&](const std::string& words) {
    return read(replaced(text_, " -e", words)).result.request;
  };
  EXPECT_EQ(request_with(" -wer").sync, SyncTiming::inside);
  EXPECT_EQ(request_with(" -l -e").sync, SyncTiming::inside);
  EXPECT_EQ(request_with(" -oe").sync, SyncTiming::none);
  EXPECT_EQ(request_with(" -o e").sync, SyncTiming::none);
  EXPECT_EQ(request_with(" -k -Y").sync, SyncTiming::each);
  EXPECT_EQ(request_with(" -B").cache_path, storage::CachePath::direct);
  EXPECT_EQ(request_with(" --posix.odirect").cache_path, storage::CachePath::direct);
  const IoResult direct = read(replaced(text_, " -e", " -B")).result;
  EXPECT_EQ(direct.phases.back().source, ReadSource::storage);
}

TEST_F(IorTexts, RandomOrderHasNoSeed) {
  const IorText text = read(replaced(text_, "ordering in a file  : sequential", "ordering in a file  : random"));
  EXPECT_THAT(text.other_values, ElementsAre(std::pair<std::string, std::string>("random", "some order")));
}

/// Bytes of a run that a time limit ended.
TEST_F(IorTexts, BytesOfOtherAmountsAreRateTimesTime) {
  const std::string head = without_from(text_, "write ");
  const IorText text = read(head +
                            "write     100.00     1          1           1024.00    256.00     0.1        0.1    "
                            "    0.1        0.010000   0\nMax Write: 100.00 MiB/sec (104.86 MB/sec)\n");
  ASSERT_EQ(text.result.phases.size(), 1u);
  EXPECT_EQ(text.result.phases.front().bytes, 1u << 20);
  EXPECT_EQ(text.result.phases.front().num_calls, 4u);
  EXPECT_THAT(text.left_out, Contains(HasSubstr("exact bytes")));
  EXPECT_EQ(text.result.request.operations, IoOperations::write);
}

TEST_F(IorTexts, TheFirstTestOfSeveral) {
  const IorText text = read(text_ + text_);
  EXPECT_EQ(text.result.phases.size(), 4u);
  EXPECT_THAT(text.left_out, Contains("the tests behind the first one"));
}

TEST_F(IorTexts, WarningsAreCounted) {
  const std::string head = without_from(text_, "read "), tail = text_.substr(head.size());
  const IorText text = read(head + "WARNING: the file exists already, (ior.c:1).\n" + tail);
  EXPECT_EQ(text.result.phases.size(), 4u);
  EXPECT_THAT(text.left_out, Contains("IOR's warnings, 1 lines"));
}

TEST_F(IorTexts, ATextWithoutItsEndIsIncomplete) {
  EXPECT_FALSE(read(without_from(text_, "\nSummary")).result.complete);
  EXPECT_THAT(read(without_from(text_, "\nSummary")).result.incomplete_reason, HasSubstr("lacks the lines"));
  const IoResult failed = read(without_from(text_, "\nSummary") + "ERROR: write(12) failed, (aiori.c:1)\n").result;
  EXPECT_EQ(failed.incomplete_reason, "IOR failed: ERROR: write(12) failed, (aiori.c:1)");
}

TEST_F(IorTexts, Refusals) {
  const auto is_refused = [&](const std::string& text, ExitStatus status, const std::string& said) {
    const Error error = refusal(text);
    EXPECT_EQ(error.status(), status) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(said));
    EXPECT_THAT(error.what(), HasSubstr("text'"));
  };
  const std::string head = without_from(text_, "access    bw");
  is_refused(head, ExitStatus::run_failed, "no table");
  is_refused(head + "ERROR: open64(\"x\") failed, (aiori-POSIX.c:1)\n", ExitStatus::run_failed,
             "IOR failed: ERROR: open");
  const std::string without_rows = without_from(text_, "write ");
  is_refused(without_rows, ExitStatus::run_failed, "no row");
  is_refused(without_rows + "ERROR: open64(\"x\") failed, (aiori.c:1)\n", ExitStatus::run_failed,
             "IOR failed: ERROR: open");
  const std::string in_row = text_.substr(0, text_.find("write ") + 40);
  is_refused(in_row, ExitStatus::run_failed, "has no end");
  is_refused(in_row + "\n", ExitStatus::run_failed, "of 11 columns");
  is_refused(replaced(text_, "bw(MiB/s)", "bw(MB/s) "), ExitStatus::bad_command_line, "no column bw(MiB/s)");
  is_refused(replaced(text_, "total(s)", "        "), ExitStatus::bad_command_line, "no column total(s)");
  is_refused(replaced(text_, "segments            : 2", "segments            : 0"), ExitStatus::run_failed,
             "'segments'");
  is_refused(replaced(text_, "tasks               : 2", "tasks               : 9999999"), ExitStatus::bad_command_line,
             "9999999 ranks");
  is_refused(replaced(text_, "single-shared-file", "two-files"), ExitStatus::run_failed, "share a file");
  is_refused(replaced(text_, "blocksize           : 1 MiB", "dryRun              : 1"), ExitStatus::bad_command_line,
             "dry run");
  is_refused(without_from(old_text_, "Summary of all tests"), ExitStatus::run_failed, "how many segments");
}

TEST_F(IorTexts, OtherTextsAreNoneOfIor) {
  EXPECT_TRUE(is_ior_text(shared));
  EXPECT_TRUE(is_ior_text(file_per_process));
  EXPECT_FALSE(is_ior_text(SAMPLES "texts/imb.txt"));
  EXPECT_FALSE(is_ior_text(written("IOR was here\n")));
}

}  // namespace
}  // namespace leadline::bench::io::ior_text_test
