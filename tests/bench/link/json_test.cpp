// SPDX-License-Identifier: Apache-2.0
// The JSON document says what the result says, with the keys of its schema and no others.
#include "bench/link/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/link/result_fixture.hpp"
#include "support/schema.hpp"

namespace leadline::test {
namespace {

using bench::link::json_text;
using nlohmann::json;
using testing::IsEmpty;

json document_of(const bench::link::LinkResult& result) { return json::parse(json_text(result)); }

TEST(Json, FitsItsSchema) {
  const Schema schema(bench::link::schema());
  EXPECT_THAT(schema.complaints(document_of(finished(result_so_far(5)))), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(result_so_far(5))), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of({})), IsEmpty());
}

TEST(Json, ThatDoesNotFitIsFound) {
  const Schema schema(bench::link::schema());
  json document = document_of(finished(result_so_far(5)));
  document["slices"][0]["all"].erase("time_ns_p99");
  document["extra"] = 1;
  document["options"]["seed"] = "7";
  EXPECT_EQ(schema.complaints(document).size(), 3U);
}

TEST(Json, HasTypedOptionsWithTheirUnits) {
  bench::link::LinkResult result = result_so_far(2);
  result.request.seed = 18446744073709551615U;
  result.request.min_time_s = 0.25;
  result.request.only_rounds = {2, 1};
  const json options = document_of(result)["options"];
  EXPECT_EQ(options["message_size_bytes"], json::array({8, 1024}));
  EXPECT_EQ(options["seed"], 18446744073709551615U);
  EXPECT_EQ(options["min_time_s"], 0.25);
  EXPECT_EQ(options["only_rounds"], json::array({2, 1}));
  EXPECT_EQ(options["serial"], false);
  EXPECT_EQ(options["wait"], "auto");
}

TEST(Json, HasTimesWithTheirBandwidths) {
  const json slice = document_of(finished(result_so_far(5)))["slices"][0];
  EXPECT_EQ(slice["permutation"], 1);
  EXPECT_EQ(slice["all"]["num_pairs"], 20);
  EXPECT_EQ(slice["all"]["time_ns_median"], 2000);
  EXPECT_EQ(slice["all"]["median_interval_ns"], json::array({1800, 2200}));
  EXPECT_DOUBLE_EQ(slice["all"]["bandwidth_bytes_per_s_median"], 1024 / 2000e-9);
  EXPECT_DOUBLE_EQ(slice["all"]["bandwidth_bytes_per_s_max"], 1024 / 1000e-9);
  EXPECT_DOUBLE_EQ(slice["all"]["bandwidth_bytes_per_s_min"], 1024 / 8000e-9);
  EXPECT_DOUBLE_EQ(slice["all"]["bandwidth_bytes_per_s_at_mean_time"], 1024 / 2500e-9);
  EXPECT_LT(slice["all"]["median_interval_bytes_per_s"][0], slice["all"]["median_interval_bytes_per_s"][1]);
  EXPECT_EQ(slice["measuring_s"], 0.5);
}

TEST(Json, SaysNullForWhatWasNotMeasured) {
  bench::link::LinkResult result = finished(result_so_far(5));
  result.slices[0].slice.permutation = -1;
  result.slices[0].all.time_ns_p99 = NAN;
  const json slice = document_of(result)["slices"][0];
  EXPECT_TRUE(slice["permutation"].is_null());
  EXPECT_TRUE(slice["all"]["time_ns_p99"].is_null());
  EXPECT_EQ(slice["between_hosts"]["num_pairs"], 0);
  EXPECT_TRUE(slice["between_hosts"]["time_ns_median"].is_null());
  EXPECT_TRUE(slice["between_hosts"]["bandwidth_bytes_per_s_max"].is_null());
  EXPECT_TRUE(slice["between_hosts"]["median_interval_ns"][0].is_null());
  EXPECT_TRUE(slice["slowest_pairs"][1]["retest_time_ns"].is_null());
  EXPECT_TRUE(slice["slowest_pairs"][1]["retest_bandwidth_bytes_per_s"].is_null());
  EXPECT_TRUE(slice["slowest_pairs"][1]["company_to_alone_ratio"].is_null());
}

TEST(Json, HasSlowPairsWithHostsAndVerdicts) {
  const json slowest = document_of(finished(result_so_far(5)))["slices"][0]["slowest_pairs"];
  ASSERT_EQ(slowest.size(), 2U);
  EXPECT_EQ(slowest[0]["from"], 3);
  EXPECT_EQ(slowest[0]["from_host"], "node1");
  EXPECT_EQ(slowest[0]["to_host"], "node0");
  EXPECT_EQ(slowest[0]["company_to_alone_ratio"], 4);
  EXPECT_EQ(slowest[0]["verdict"], "only_under_load");
  EXPECT_EQ(slowest[1]["verdict"], "not_retested");
}

TEST(Json, SaysWhetherAndWhyItIsNotComplete) {
  bench::link::LinkResult result = finished(result_so_far(2));
  EXPECT_EQ(document_of(result)["complete"], true);
  EXPECT_EQ(document_of(result)["incomplete_reason"], "");
  result.complete = false;
  result.incomplete_reason = "rank 1 is gone";
  EXPECT_EQ(document_of(result)["complete"], false);
  EXPECT_EQ(document_of(result)["incomplete_reason"], "rank 1 is gone");
}

TEST(Json, SurvivesTextThatIsNoUtf8) {
  EXPECT_EQ(document_of(result_so_far(2))["provenance"]["command_line"][4], "\xef\xbf\xbd");
}

}  // namespace
}  // namespace leadline::test
