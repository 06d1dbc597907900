// SPDX-License-Identifier: Apache-2.0
// The JSON document of a bisection test says what the result says, with the keys of its schema and no others.
#include "bench/bisection/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <nlohmann/json.hpp>

#include "bench/bisection/result_fixture.hpp"
#include "support/schema.hpp"

namespace leadline::test::bisection_json_test {
namespace {

using bench::bisection::json_text;
using bench::bisection::JsonStore;
using nlohmann::json;
using testing::Each;
using testing::IsEmpty;

json document_of(const bench::bisection::BisectionResult& result) { return json::parse(json_text(result)); }
json document_at(const std::string& path) { return json::parse(contents_of(path)); }

/// One of everything of which nothing is known but that it is there.
bench::bisection::BisectionResult nothing_measured() {
  bench::bisection::BisectionResult result = bisection_so_far();
  result.patterns.resize(1);
  result.baseline.resize(1);
  result.sizes.resize(1);
  result.slow_connections.resize(1);
  result.diagnoses.resize(1);
  return result;
}

TEST(BisectionJson, FitsItsSchema) {
  const Schema schema(bench::bisection::schema());
  EXPECT_THAT(schema.complaints(document_of(finished(bisection_so_far()))), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(bisection_so_far())), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(nothing_measured())), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of({})), IsEmpty());
  bench::bisection::BisectionResult failed = finished(bisection_so_far());
  failed.complete = false;
  failed.incomplete_reason = "rank 3 is gone";
  EXPECT_THAT(schema.complaints(document_of(failed)), IsEmpty());
}

TEST(BisectionJson, ThatDoesNotFitIsFound) {
  const Schema schema(bench::bisection::schema());
  json document = document_of(finished(bisection_so_far()));
  document["patterns"][0].erase("bytes_per_s_full_load");
  document["patterns"][1]["kind"] = "other";
  document["sizes"][1]["buckets"][0]["extra"] = 1;
  document["options"]["rounds"] = "10";
  document["diagnoses"][0]["diagnosis"] = nullptr;
  EXPECT_EQ(schema.complaints(document).size(), 5U);
}

TEST(BisectionJson, HasThePatternsAsMeasured) {
  const json document = document_of(finished(bisection_so_far()));
  EXPECT_EQ(document["benchmark"], "bisection");
  EXPECT_EQ(document["pattern_names"], json({"halves", "shift:3"}));
  EXPECT_EQ(document["num_participants"], 4);
  EXPECT_EQ(document["within_hosts"], false);
  EXPECT_EQ(document["verified_bytes"], 77);
  EXPECT_EQ(document["options"]["seed"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(document["options"]["time_limit_s"], 120);
  ASSERT_EQ(document["patterns"].size(), 8U);
  EXPECT_EQ(document["patterns"][5], json({{"size_index", 0},
                                           {"message_size_bytes", 8},
                                           {"number", 5},
                                           {"kind", "named"},
                                           {"index", 1},
                                           {"repeat", 0},
                                           {"name", "shift:3"},
                                           {"num_connections", 4},
                                           {"bytes_per_s_mean", 1005001.0},
                                           {"bytes_per_s_harmonic", 1005002.0},
                                           {"bytes_per_s_min", 1005003.0},
                                           {"bytes_per_s_max", 1005004.0},
                                           {"bytes_per_s_full_load", 1005005.0},
                                           {"time_ns_mean", 1005006.0},
                                           {"slowest_from", 1},
                                           {"slowest_to", 2},
                                           {"accepted", true},
                                           {"begin_s", 5.5},
                                           {"measuring_s", 0.25}}));
  EXPECT_EQ(document["patterns"][7]["message_size_bytes"], 1024);
  EXPECT_EQ(document["patterns"][7]["kind"], "random");
  EXPECT_EQ(document["patterns"][7]["index"], 11);
  ASSERT_EQ(document["baseline"].size(), 6U);
  EXPECT_EQ(document["baseline"][5],
            json({{"size_index", 1}, {"number", 1}, {"from", 1}, {"to", 3}, {"time_ns", 1001.0}}));
}

TEST(BisectionJson, HasTheNumbersOfASizeWithTheirIntervals) {
  const json sizes = document_of(finished(bisection_so_far()))["sizes"];
  ASSERT_EQ(sizes.size(), 3U);
  const json first = sizes[0];
  EXPECT_EQ(first["num_patterns"], 4);
  EXPECT_EQ(first["num_connections"], 16);
  EXPECT_EQ(first["stopped_by"], "rounds");
  EXPECT_EQ(first["ebb"], json({{"num", 4}, {"bytes_per_s_mean", 2e9}, {"bytes_per_s_half_width", 1e7}}));
  EXPECT_EQ(first["full_load"]["bytes_per_s_mean"], 1.9e9);
  EXPECT_EQ(first["baseline"]["bytes_per_s_half_width"], 3e7);
  EXPECT_EQ(first["contention_share"], json({{"num", 3}, {"mean", 0.5}, {"half_width", 0.004}}));
  EXPECT_EQ(first["bytes_per_s_harmonic"], 1.75e9);
  EXPECT_EQ(first["bytes_per_s_min"], 1e9);
  EXPECT_EQ(first["bytes_per_s_p01"], 1.1e9);
  EXPECT_EQ(first["bytes_per_s_p05"], 1.2e9);
  EXPECT_EQ(first["bytes_per_s_median"], 2.1e9);
  EXPECT_EQ(first["bytes_per_s_max"], 3e9);
  EXPECT_EQ(first["buckets"][1], json({{"low_ns", 200.0}, {"high_ns", 300.0}, {"num", 4}}));
  EXPECT_EQ(first["measuring_s"], 1.5);
  EXPECT_EQ(sizes[1]["stopped_by"], "time_limit");
  EXPECT_EQ(sizes[2]["stopped_by"], "not_stopped");
}

TEST(BisectionJson, HasWhatIsSlow) {
  const json document = document_of(finished(bisection_so_far()));
  ASSERT_EQ(document["slow_connections"].size(), 2U);
  EXPECT_EQ(document["slow_connections"][0], json({{"size_index", 0},
                                                   {"number", 3},
                                                   {"from", 2},
                                                   {"to", 1},
                                                   {"time_ns", 900.0},
                                                   {"alone_time_ns", 300.0},
                                                   {"slow_alone", false}}));
  EXPECT_TRUE(document["slow_connections"][1]["alone_time_ns"].is_null());
  ASSERT_EQ(document["diagnoses"].size(), 1U);
  EXPECT_EQ(document["diagnoses"][0]["pattern"], "random");
  EXPECT_EQ(document["diagnoses"][0]["diagnosis"]["faults"][0]["name"], "host node1");
}

TEST(BisectionJson, SaysNullForWhatWasNotMeasured) {
  const json document = document_of(nothing_measured());
  const json pattern = document["patterns"][0], size = document["sizes"][0];
  for (const char* name : {"bytes_per_s_mean", "bytes_per_s_harmonic", "bytes_per_s_min", "bytes_per_s_max",
                           "bytes_per_s_full_load", "time_ns_mean", "slowest_from", "slowest_to"}) {
    EXPECT_TRUE(pattern[name].is_null()) << name;
  }
  EXPECT_TRUE(document["baseline"][0]["from"].is_null());
  EXPECT_TRUE(document["baseline"][0]["time_ns"].is_null());
  EXPECT_EQ(size["ebb"]["num"], 0);
  EXPECT_TRUE(size["ebb"]["bytes_per_s_half_width"].is_null());
  EXPECT_TRUE(size["contention_share"]["mean"].is_null());
  EXPECT_TRUE(size["bytes_per_s_p05"].is_null());
  EXPECT_EQ(size["buckets"], json::array());
  EXPECT_TRUE(document["diagnoses"][0]["pattern"].is_null());
}

TEST(BisectionJsonStore, ThatFailsHasWhatWasMeasuredAndSaysWhy) {
  const Folder folder;
  const auto errors = run_ranks({5}, [&](auto& cluster) {
    JsonStore store(cluster, bisection_so_far(), bisection_setup(cluster, folder / "run.json"));
    write_all_patterns(store, cluster);
    std::thread([&] { store.mark_incomplete("rank 3 is gone"); }).join();
  });
  EXPECT_THAT(errors, Each(""));
  const json document = document_at(folder / "run.json"), whole = document_of(finished(bisection_so_far()));
  EXPECT_THAT(Schema(bench::bisection::schema()).complaints(document), IsEmpty());
  EXPECT_EQ(document["complete"], false);
  EXPECT_EQ(document["incomplete_reason"], "rank 3 is gone");
  EXPECT_EQ(document["patterns"], whole["patterns"]);
  EXPECT_EQ(document["baseline"], whole["baseline"]);
  EXPECT_THAT(document["sizes"], IsEmpty());
}

}  // namespace
}  // namespace leadline::test::bisection_json_test
