// SPDX-License-Identifier: Apache-2.0
// Findings of a bisection test: slow components and connections, one host, few patterns, patterns left out.
#include "bench/bisection/validity_warnings.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace leadline::bench::bisection {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BisectionResult good_result() {
  BisectionResult result;
  result.hosts = {{"a", "0-1"}, {"b", "2-3"}};
  BisectionSummary size;
  size.message_size_bytes = 1 << 20;
  size.num_patterns = 40;
  result.sizes = {size};
  PatternSummary pattern;
  pattern.position.message_size_bytes = 1 << 20;
  pattern.bytes_per_s_max = 1e9;
  result.patterns = {pattern};
  return result;
}

std::vector<Finding> findings_of(const BisectionResult& result, const Conditions& conditions = {}) {
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

TEST(BisectionUnfit, SaysNothingOfAGoodRun) { EXPECT_THAT(findings_of(good_result()), IsEmpty()); }

TEST(BisectionUnfit, SaysWhereNoNetworkWasMeasured) {
  BisectionResult result = good_result();
  result.hosts = {{"a", "0-3"}};
  EXPECT_THAT(ids_of(findings_of(result)), ElementsAre("one_host"));
}

TEST(BisectionUnfit, SaysWhereAnIntervalRestsOnFewPatterns) {
  BisectionResult result = good_result();
  result.sizes.push_back(result.sizes[0]);
  result.sizes[1].num_patterns = 10;
  result.sizes[1].message_size_bytes = 8;
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("few_patterns"));
  EXPECT_EQ(findings[0].evidence, "10 random patterns of 8 B, fewer than 20");
  result.sizes[1].num_patterns = 0;  // none was asked for
  EXPECT_THAT(findings_of(result), IsEmpty());
}

TEST(BisectionUnfit, SaysWhatThereWasNoTimeFor) {
  BisectionResult result = good_result();
  result.pattern_names = {"halves", "reversal"};
  result.request.num_worst_steps = 1;
  result.patterns.resize(3, result.patterns[0]);
  result.patterns[1].position.kind = PatternKind::named;
  result.patterns[2].position.kind = PatternKind::named;
  const std::vector<Finding> findings = findings_of(result);
  ASSERT_THAT(ids_of(findings), ElementsAre("patterns_left_out"));
  EXPECT_EQ(findings[0].evidence, "2 of 3");
}

TEST(BisectionUnfit, JudgesTheClockByTheFastestLoopAndSaysWhatIsSimulated) {
  BisectionResult result = good_result();
  Conditions conditions;
  conditions.clock.resolution_ns = 2e6;  // 20 exchanges take 21 ms
  EXPECT_THAT(ids_of(findings_of(result, conditions)), ElementsAre("clock_too_coarse"));
  conditions.clock.resolution_ns = 1e6;
  EXPECT_THAT(findings_of(result, conditions), IsEmpty());
  conditions.simulated = true;
  EXPECT_THAT(ids_of(findings_of(result, conditions)), ElementsAre("simulated"));
}

}  // namespace
}  // namespace leadline::bench::bisection
