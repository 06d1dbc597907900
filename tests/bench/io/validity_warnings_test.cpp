// SPDX-License-Identifier: Apache-2.0
// Findings of a parallel file test: who is slow, where bytes came from, whether they arrived, and what hints became.
#include "bench/io/validity_warnings.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace leadline::bench::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PhaseSummary phase_of(IoOperation operation, int index) {
  PhaseSummary phase;
  phase.position = {index, operation, index / 2};
  phase.is_complete = true;
  phase.num_calls = 100;
  phase.call_ns_min = 1e6;
  phase.call_ns_p50 = 2e6;
  phase.call_ns_max = 5e6;
  phase.is_durable = operation == IoOperation::write;
  phase.source = operation == IoOperation::read ? ReadSource::storage : ReadSource::not_known;
  return phase;
}

IoResult good_result() {
  IoResult result;
  result.file_system = "ext4";
  result.phases = {phase_of(IoOperation::write, 0), phase_of(IoOperation::read, 1)};
  return result;
}

std::vector<Finding> findings_of(const IoResult& result, const Conditions& conditions = {}) {
  return validity_warnings(conditions, result);
}

std::vector<std::string> ids_of(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    ids.push_back(finding.id);
    EXPECT_FALSE(finding.message.empty() || finding.evidence.empty() || finding.advice.empty()) << finding.id;
  }
  return ids;
}

TEST(IoUnfit, SaysNothingOfAGoodRun) { EXPECT_THAT(findings_of(good_result()), IsEmpty()); }

TEST(IoUnfit, SaysNothingOfARunThatMeasuredNothing) { EXPECT_THAT(findings_of(IoResult{}), IsEmpty()); }

TEST(IoUnfit, NamesTheSlowestCallWhereItIsFarFromTheOthers) {
  IoResult result = good_result();
  result.phases[0].call_ns_max = 150e6;  // 75 times the median
  EXPECT_THAT(findings_of(result), IsEmpty());
  result.phases[0].call_ns_max = 250e6;
  result.phases[0].slow_calls = {{5, "a", "f.5", 1 << 20, 1 << 10, 0, 250e6}};
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("slow_call"));
  EXPECT_THAT(findings[0].evidence, AllOf(HasSubstr("write: 250.0 ms"), HasSubstr("median call 2.000 ms"),
                                          HasSubstr("rank 5 on a, 1 KiB at 1048576 of f.5")));
  result.phases[0].call_ns_p50 = 1e3;
  result.phases[0].call_ns_max = 99e6;  // 99000 times the median, but soon over
  EXPECT_THAT(findings_of(result), IsEmpty());
}

TEST(IoUnfit, TellsOfACallThatHadNearlyEndedTheRun) {
  IoResult result = good_result();
  result.request.timeout_s = 8;
  result.phases[0].call_ns_max = 1.9e9;
  result.phases[0].call_ns_p50 = 1e9;
  EXPECT_THAT(findings_of(result), IsEmpty());
  result.phases[0].call_ns_max = 2.1e9;
  result.phases[0].slow_calls = {{5, "a", "f.5", 1 << 20, 1 << 10, 0, 2.1e9}};
  std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("stalled_call"));
  EXPECT_EQ(findings[0].evidence, "write: 2.100 s in one call, rank 5 on a, 1 KiB at 1048576 of f.5");
  EXPECT_THAT(findings[0].ranks, ElementsAre(5));
  EXPECT_THAT(findings[0].advice, HasSubstr("a call that takes 8 s ends the run"));
  result.phases[0].call_ns_p50 = 1e3;
  EXPECT_THAT(ids_of(findings_of(result)), ElementsAre("stalled_call")) << "and not as a slow call, too";

  result.phases[1].times[static_cast<std::size_t>(IoTime::close)] = {
      .num = 4, .max = 3e9, .min_rank = 0, .max_rank = 2};
  findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("stalled_call"));
  EXPECT_EQ(findings[0].evidence, "read: 3.000 s in one close, rank 2");

  result.request.timeout_s = 600;
  EXPECT_THAT(ids_of(findings_of(result)), ElementsAre("slow_call"));
  result.phases[1].times[static_cast<std::size_t>(IoTime::sync)] = {
      .num = 4, .max = 61e9, .min_rank = 0, .max_rank = 3};
  EXPECT_EQ(findings_of(result).at(0).evidence, "read: 61.00 s in one sync, rank 3") << "a minute at most";
}

TEST(IoUnfit, SaysWhereReadsCameFrom) {
  IoResult result = good_result();
  result.phases[1].source = ReadSource::cache;
  result.phases[1].cache_before = {true, 1000, 1000, 0, 0};
  std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("read_from_cache"));
  EXPECT_EQ(findings[0].severity, Severity::warning);
  EXPECT_EQ(findings[0].evidence, "phase read; 100.0 % of the pages were cached before");
  EXPECT_THAT(findings[0].advice, HasSubstr("--drop-cache"));

  result.phases[1].source = ReadSource::mixed;
  result.phases[1].cache_before.cached = 125;
  findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("read_from_cache"));
  EXPECT_THAT(findings[0].message, HasSubstr("partly"));
  EXPECT_THAT(findings[0].evidence, HasSubstr("12.5 %"));

  result.phases[1].source = ReadSource::not_known;
  findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("read_from_cache"));
  EXPECT_EQ(findings[0].severity, Severity::note);

  result.request.no_file = true;
  EXPECT_THAT(findings_of(result), IsEmpty());
  result.request.no_file = false;
  result.phases[1].is_complete = false;
  EXPECT_THAT(findings_of(result), IsEmpty());
}

TEST(IoUnfit, SaysWhichRepetitionsAreMeant) {
  IoResult result = good_result();
  result.request.repeat = 2;
  result.phases.push_back(phase_of(IoOperation::write, 2));
  result.phases.push_back(phase_of(IoOperation::read, 3));
  result.phases[1].source = ReadSource::cache;
  result.phases[3].source = ReadSource::cache;
  EXPECT_THAT(findings_of(result).at(0).evidence, HasSubstr("phases read 1, read 2"));
}

TEST(IoUnfit, SaysWhichWritesAreNotOnTheStorage) {
  IoResult result = good_result();
  result.request.sync = SyncTiming::outside;
  result.phases[0].is_durable = false;
  result.phases[0].cache_after = {true, 1000, 1000, 700, 5};
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("not_durable"));
  EXPECT_EQ(findings[0].evidence, "phase write; 705 of 1000 pages dirty or being written; --sync outside");
}

TEST(IoUnfit, SaysThatDirectWritesWithoutFsyncMayBeLost) {
  IoResult result = good_result();
  result.request.sync = SyncTiming::none;
  result.request.cache_path = storage::CachePath::direct;
  result.phases[0].is_durable = false;
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("not_durable"));
  EXPECT_EQ(findings[0].severity, Severity::note);
  EXPECT_EQ(findings[0].evidence, "phase write; --direct, --sync none");
}

TEST(IoUnfit, SaysHowMuchOfTheTimeContentsTook) {
  IoResult result = good_result();
  result.phases[0].wall_ns = result.phases[1].wall_ns = 1e9;
  result.phases[0].times[static_cast<std::size_t>(IoTime::fill)] = {2, 0, 0.05e9, 0.1e9, 0, 1};
  EXPECT_THAT(findings_of(result), IsEmpty());
  result.phases[1].times[static_cast<std::size_t>(IoTime::verify)] = {2, 0.2e9, 0.25e9, 0.3e9, 0, 1};
  std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("contents_in_time"));
  EXPECT_EQ(findings[0].evidence, "read: 25 % of the time");
  EXPECT_THAT(findings[0].advice, testing::HasSubstr("half as many ranks"));
  result.contents_by = ContentsBy::helper;
  findings = findings_of(result);
  EXPECT_THAT(findings[0].message, testing::HasSubstr("waited for contents"));
  // Of a mix both count, of metadata neither.
  result.phases[1].position.operation = IoOperation::mix;
  result.phases[1].times[static_cast<std::size_t>(IoTime::fill)] = {2, 0.1e9, 0.15e9, 0.2e9, 0, 1};
  EXPECT_EQ(findings_of(result).front().evidence, "mix: 40 % of the time");
  result.phases[1].position.operation = IoOperation::read_file;
  EXPECT_THAT(ids_of(findings_of(result)), testing::Not(testing::Contains("contents_in_time")));
}

TEST(IoUnfit, ExpectsNothingElseOfAFileSystemInMemory) {
  IoResult result = good_result();
  result.file_system = "tmpfs";
  result.phases[0].is_durable = false;
  result.phases[1].source = ReadSource::cache;
  EXPECT_THAT(findings_of(result), IsEmpty());
}

TEST(IoUnfit, CountsCallsThatWereContinued) {
  IoResult result = good_result();
  result.phases[0].num_continued = 2;
  result.phases[1].num_continued = 1;
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("continued_calls"));
  EXPECT_EQ(findings[0].evidence, "3 of 200 calls");
}

TEST(IoUnfit, TellsHintsThatAreIgnoredFromThoseThatAreOnlyRepeated) {
  IoResult result = good_result();
  result.hints = {{"cb_nodes", "4", "4", true}, {"romio_ds_write", "", "automatic", true}};
  EXPECT_THAT(findings_of(result), IsEmpty());
  result.hints.push_back({"bogus_key", "7", "7", false});
  result.hints.push_back({"striping_factor", "8", "", false});
  result.hints.push_back({"cb_buffer_size", "1", "16777216", true});
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("hint_ignored", "hint_not_confirmed"));
  EXPECT_EQ(findings[0].evidence, "striping_factor=8 (not known), cb_buffer_size=1 (is 16777216)");
  EXPECT_EQ(findings[1].evidence, "bogus_key=7");
}

TEST(IoUnfit, JudgesTheMachineToo) {
  Conditions conditions;
  conditions.ranks_per_core_max = 2;
  conditions.clock.resolution_ns = 60e3;  // of calls of 1 ms
  EXPECT_THAT(ids_of(findings_of(good_result(), conditions)), ElementsAre("oversubscribed", "clock_too_coarse"));
  conditions.clock.resolution_ns = 40e3;
  EXPECT_THAT(ids_of(findings_of(good_result(), conditions)), Not(::testing::Contains("clock_too_coarse")));
}

}  // namespace
}  // namespace leadline::bench::io
