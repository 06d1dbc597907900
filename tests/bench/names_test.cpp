// SPDX-License-Identifier: Apache-2.0
// Values of enums and their names.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/bisection/result.hpp"
#include "bench/congestion/result.hpp"
#include "bench/io/result.hpp"
#include "bench/link/request.hpp"
#include "bench/topology/request.hpp"
#include "model/result.hpp"
#include "model/samples.hpp"

namespace leadline {
namespace {

/// Each name once, and the same from both functions. The tables are in the order of their enums.
template <class Value>
void expect_named() {
  std::set<std::string> names;
  int at = static_cast<int>(names_of(Value{}).front().value);
  for (const Named<Value>& entry : names_of(Value{})) {
    EXPECT_EQ(static_cast<int>(entry.value), at++) << entry.name;
    EXPECT_STREQ(name_of(entry.value), entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
  EXPECT_STREQ(name_of(static_cast<Value>(at)), "unknown") << "a value without a name";
}

TEST(Names, StandOnceInATable) {
  expect_named<Direction>();
  expect_named<bench::link::AllToAll>();
  expect_named<WaitMode>();
  expect_named<ResultFormat>();
  expect_named<RowPath>();
  expect_named<bench::topology::Rate>();
  expect_named<bench::io::IoOperations>();
  expect_named<storage::FileCalls>();
  expect_named<bench::io::SyncTiming>();
  expect_named<bench::congestion::LoadPattern>();
  expect_named<bench::congestion::Test>();
  expect_named<bench::congestion::Shared>();
  expect_named<Fill>();
  expect_named<memory::BlockKind>();
  expect_named<memory::Touch>();
  expect_named<memory::Check>();
  expect_named<schedule::ChannelMode>();
}

TEST(Names, OfWhatARankDoesWithItsTimeAreAllDifferent) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < bench::io::num_io_times; ++i) names.insert(name_of(static_cast<bench::io::IoTime>(i)));
  EXPECT_EQ(names.size(), bench::io::num_io_times);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Names, OfValuesAreTheirWords) {
  EXPECT_STREQ(name_of(Direction::semidirectional), "semidirectional");
  EXPECT_STREQ(name_of(Direction::unidirectional), "unidirectional");
  EXPECT_STREQ(name_of(WaitMode::spin), "spin");
  EXPECT_STREQ(name_of(WaitMode::yield), "yield");
  EXPECT_STREQ(name_of(WaitMode::block), "block");
  EXPECT_STREQ(name_of(ResultFormat::hdf5), "hdf5");
  EXPECT_STREQ(name_of(ResultFormat::json), "json");
  EXPECT_STREQ(name_of(ResultFormat::none), "none");
  EXPECT_STREQ(name_of(bench::bisection::PatternKind::worst), "worst");
  EXPECT_STREQ(name_of(bench::bisection::StopReason::time_limit), "time_limit");
  EXPECT_STREQ(name_of(bench::io::IoOperation::read), "read");
  EXPECT_STREQ(name_of(bench::io::IoTime::preallocate), "preallocate");
  EXPECT_STREQ(name_of(bench::io::ReadSource::not_known), "not_known");
  EXPECT_STREQ(name_of(bench::io::ReadSource::mixed), "mixed");
  EXPECT_STREQ(name_of(Severity::note), "note");
  EXPECT_STREQ(name_of(Severity::warning), "warning");
}

}  // namespace
}  // namespace leadline
