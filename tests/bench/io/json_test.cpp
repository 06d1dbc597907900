// SPDX-License-Identifier: Apache-2.0
// The JSON document of a parallel file test says what the result says, with the keys of its schema and no others.
#include "bench/io/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include <nlohmann/json.hpp>

#include "bench/io/result_fixture.hpp"
#include "support/schema.hpp"

namespace leadline::test::io_json_test {
namespace {

using bench::io::json_text;
using bench::io::JsonStore;
using bench::io::phase_text;
using nlohmann::json;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;

constexpr std::size_t most_bytes = 32767;

json document_of(const bench::io::IoResult& result) { return json::parse(json_text(result)); }
json document_at(const std::string& path) { return json::parse(contents_of(path)); }

/// Whatever a phase can have, and one of everything of which nothing is known but that it is there.
bench::io::IoResult with_all_kinds() {
  bench::io::IoResult result = finished(io_so_far());
  result.phases.push_back(failed_phase(5));
  bench::io::PhaseSummary unknown;
  unknown.wrong.resize(1);
  unknown.slow_calls.resize(1);
  result.phases.push_back(unknown);
  unknown.position = place_of(1);
  result.phases.push_back(unknown);
  result.phases.push_back(interrupted_phase(3));
  result.hints.emplace_back();
  result.operations.emplace_back();
  return result;
}

TEST(IoJson, FitsItsSchema) {
  const Schema schema(bench::io::schema());
  EXPECT_THAT(schema.complaints(document_of(finished(io_so_far()))), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(io_so_far())), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(with_all_kinds())), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of({})), IsEmpty());
  bench::io::IoResult failed = finished(io_so_far());
  failed.complete = false;
  failed.incomplete_reason = "rank 3 is gone";
  EXPECT_THAT(schema.complaints(document_of(failed)), IsEmpty());
}

TEST(IoJson, HasEveryKindOfMismatchAndTimeInItsSchema) {
  const Schema schema(bench::io::schema());
  bench::io::IoResult result = io_so_far();
  bench::io::PhaseSummary phase = failed_phase(1);
  for (int kind = 0; kind <= static_cast<int>(memory::MismatchKind::unknown); ++kind) {
    phase.wrong.push_back(wrong_object());
    phase.wrong.back().mismatch.kind = static_cast<memory::MismatchKind>(kind);
  }
  for (int source = 0; source <= static_cast<int>(bench::io::ReadSource::mixed); ++source) {
    phase.source = static_cast<bench::io::ReadSource>(source);
    result.phases.push_back(phase);
  }
  EXPECT_THAT(schema.complaints(document_of(result)), IsEmpty());
}

TEST(IoJson, ThatDoesNotFitIsFound) {
  const Schema schema(bench::io::schema());
  json document = document_of(with_all_kinds());
  document["phases"][0].erase("bytes_per_s");
  document["phases"][1]["source"] = "other";
  document["phases"][2]["times"]["sync"]["extra"] = 1;
  document["phases"][4]["wrong"][0]["found"]["rank"] = "3";
  document["options"]["objects"] = "10";
  EXPECT_EQ(schema.complaints(document).size(), 5U);
}

TEST(IoJson, HasWhatIsKnownOfTheRun) {
  const json document = document_of(finished(io_so_far()));
  EXPECT_EQ(document["benchmark"], "io");
  EXPECT_EQ(document["complete"], true);
  EXPECT_EQ(document["verified_bytes"], 77);
  EXPECT_EQ(document["options"]["movement"], "N-M-1");
  EXPECT_EQ(document["options"]["object_size_bytes"], 4096);
  EXPECT_EQ(document["backend_library"], "POSIX");
  EXPECT_EQ(document["file_system"], "ext4");
  EXPECT_EQ(document["run"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(document["num_objects"], 12);
  EXPECT_EQ(document["io_ranks"], json({0, 3}));
  EXPECT_EQ(document["files"], json({"/scratch/leadline-io", "/scratch/two"}));
  EXPECT_EQ(document["findings"][0]["id"], "oversubscribed");
  ASSERT_EQ(document["hints"].size(), 3U);
  EXPECT_EQ(document["hints"][0],
            json({{"key", "cb_nodes"}, {"asked", "4"}, {"granted", "2"}, {"is_confirmed", true}}));
  EXPECT_TRUE(document["hints"][1]["asked"].is_null());
  EXPECT_TRUE(document["hints"][2]["granted"].is_null());
  ASSERT_EQ(document["operations"].size(), 2U);
  EXPECT_EQ(document["operations"][0], json({{"operation", "write"},
                                             {"num", 2},
                                             {"bytes_per_s_min", 1e9},
                                             {"bytes_per_s_median", 2e9},
                                             {"bytes_per_s_mean", 2.5e9},
                                             {"bytes_per_s_max", 3e9},
                                             {"bytes_per_s_half_width", 1e8},
                                             {"operations_per_s_min", 1},
                                             {"operations_per_s_median", 2},
                                             {"operations_per_s_mean", 3},
                                             {"operations_per_s_max", 4},
                                             {"operations_per_s_half_width", 5}}));
  EXPECT_TRUE(document["operations"][1]["bytes_per_s_half_width"].is_null());
}

TEST(IoJson, HasThePhasesAsMeasured) {
  const json phases = document_of(finished(io_so_far()))["phases"];
  ASSERT_EQ(phases.size(), 4U);
  const json phase = phases[3];
  EXPECT_EQ(phase["index"], 3);
  EXPECT_EQ(phase["operation"], "read");
  EXPECT_EQ(phase["repeat"], 1);
  EXPECT_EQ(phase["is_complete"], true);
  EXPECT_EQ(phase["error"], "");
  EXPECT_EQ(phase["bytes"], 1 << 20);
  EXPECT_EQ(phase["message_bytes"], 1 << 19);
  EXPECT_EQ(phase["num_objects"], 256);
  EXPECT_EQ(phase["num_calls"], 300);
  EXPECT_EQ(phase["num_continued"], 2);
  EXPECT_EQ(phase["wall_ns"], 5e6);
  EXPECT_EQ(phase["bytes_per_s"], 4e9);
  EXPECT_EQ(phase["bytes_per_s_mean"], 4e9 + 1);
  EXPECT_EQ(phase["bytes_per_s_wall"], 4e9) << "the headline of documents of all versions";
  EXPECT_EQ(phase["bytes_per_s_io"], 4e9 + 2);
  EXPECT_EQ(phase["bytes_per_s_first_done"], 4e9 + 6);
  EXPECT_EQ(phase["first_done_ns"], 4.5e6);
  EXPECT_EQ(phase["bytes_per_s_transfer"], 4e9 + 3);
  EXPECT_EQ(phase["fill_bytes_per_s"], 4e9 + 4);
  EXPECT_EQ(phase["verify_bytes_per_s"], 4e9 + 5);
  const json spread = {{"num", 4}, {"min", 4e6}, {"mean", 4e6 + 1}, {"max", 4e6 + 2}, {"min_rank", 3}, {"max_rank", 1}};
  EXPECT_EQ(phase["io"], spread);
  ASSERT_EQ(phase["times"].size(), bench::io::num_io_times);
  EXPECT_EQ(phase["times"]["open"]["min"], 0.0);
  EXPECT_EQ(phase["times"]["call"]["max"], 202.0);
  EXPECT_EQ(phase["times"]["close"]["mean"], 1001.0);
  EXPECT_EQ(phase["cache_before"],
            json({{"is_known", true}, {"pages", 256}, {"cached", 3}, {"dirty", 2}, {"writeback", 1}}));
  EXPECT_EQ(phase["source"], "mixed");
  EXPECT_TRUE(phase["is_durable"].is_null());
  EXPECT_TRUE(phases[0]["source"].is_null());
  EXPECT_EQ(phases[0]["is_durable"], true);
  EXPECT_EQ(phases[2]["is_durable"], false);
}

TEST(IoJson, HasNoEmptyBucketsAndNoZerosAtTheEndOfTheSeries) {
  const json phase = document_of(finished(io_so_far()))["phases"][0];
  const auto edge = [](double octaves) { return std::exp2(10 + octaves); };
  EXPECT_EQ(phase["latencies"], json({{{"low_ns", 0.0}, {"high_ns", edge(0.25)}, {"num", 3}},
                                      {{"low_ns", edge(1.25)}, {"high_ns", edge(1.5)}, {"num", 290}},
                                      {{"low_ns", edge(31.75)}, {"high_ns", nullptr}, {"num", 7}}}));
  EXPECT_EQ(phase["call_ns_min"], 900.0);
  EXPECT_EQ(phase["call_ns_p50"], 2000.0);
  EXPECT_EQ(phase["call_ns_p90"], 2100.0);
  EXPECT_EQ(phase["call_ns_p99"], 2200.0);
  EXPECT_EQ(phase["call_ns_p999"], 2300.0);
  EXPECT_EQ(phase["call_ns_max"], 4e12);
  EXPECT_EQ(phase["series"], json({{"bin_ns", 1 << 21}, {"bytes", {5, 0, 7}}}));
}

TEST(IoJson, HasWhatIsWrongAndWhatIsSlow) {
  const json phase = document_of(with_all_kinds())["phases"][4];
  EXPECT_EQ(phase["is_complete"], false);
  EXPECT_EQ(phase["error"], "reading FILE failed (Input/output error)");
  EXPECT_TRUE(phase["bytes_per_s"].is_null());
  EXPECT_EQ(phase["has_stop"], true);
  EXPECT_EQ(phase["stop_ns"], 3e6);
  EXPECT_EQ(phase["bytes_at_stop"], 0);
  EXPECT_EQ(phase["num_mismatches"], 3);
  EXPECT_EQ(
      phase["wrong"],
      json::array(
          {{{"kind", "other_rank"},
            {"expected",
             {{"run", 9}, {"rank", 2}, {"file", 0}, {"object", 7}, {"offset_bytes", 28672}, {"generation", 1}}},
            {"found", {{"run", 9}, {"rank", 3}, {"file", 0}, {"object", 7}, {"offset_bytes", 0}, {"generation", 1}}},
            {"first_byte", 4096},
            {"num_bytes", 512},
            {"xor_mask", 0},
            {"read_by", 0},
            {"host", "node0"},
            {"file", "/scratch/leadline-io"}}}));
  EXPECT_FALSE(phase.contains("stragglers")) << "the diagnoses say who is slow";
  ASSERT_EQ(phase["slow_calls"].size(), 2U);
  EXPECT_EQ(phase["slow_calls"][0], json({{"rank", 1},
                                          {"host", "node0"},
                                          {"file", "/scratch/two"},
                                          {"offset_bytes", 8192},
                                          {"size_bytes", 4096},
                                          {"begin_ns", 17.0},
                                          {"time_ns", 4e12}}));
}

TEST(IoJson, SaysNullForWhatWasNotMeasured) {
  const json phases = document_of(with_all_kinds())["phases"];
  const json write = phases[5], read = phases[6];
  for (const char* name :
       {"wall_ns", "bytes_per_s", "bytes_per_s_mean", "bytes_per_s_wall", "bytes_per_s_transfer", "bytes_per_s_io",
        "bytes_per_s_first_done", "first_done_ns", "fill_bytes_per_s", "verify_bytes_per_s", "stop_ns", "bytes_at_stop",
        "bytes_per_s_at_stop", "call_ns_min", "call_ns_p50", "call_ns_p999", "call_ns_max"}) {
    EXPECT_TRUE(write[name].is_null()) << name;
  }
  EXPECT_EQ(write["times"]["wait"], json({{"num", 0},
                                          {"min", nullptr},
                                          {"mean", nullptr},
                                          {"max", nullptr},
                                          {"min_rank", nullptr},
                                          {"max_rank", nullptr}}));
  EXPECT_EQ(
      write["cache_after"],
      json({{"is_known", false}, {"pages", nullptr}, {"cached", nullptr}, {"dirty", nullptr}, {"writeback", nullptr}}));
  EXPECT_THAT(write["latencies"], IsEmpty());
  EXPECT_THAT(write["series"]["bytes"], IsEmpty());
  EXPECT_TRUE(write["wrong"][0]["found"].is_null());
  EXPECT_TRUE(write["wrong"][0]["read_by"].is_null());
  EXPECT_EQ(read["source"], "not_known");
}

TEST(IoPhaseText, IsThePhaseOfTheDocumentInALineWhereThatFits) {
  for (const bench::io::PhaseSummary& phase : {phase_summary_of(2), failed_phase(1)}) {
    bench::io::IoResult result = io_so_far();
    result.phases = {phase};
    const std::string text = phase_text(phase, most_bytes);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(json::parse(text), document_of(result)["phases"][0]);
  }
}

/// The greatest numbers that its arrays can hold, which are never shortened.
bench::io::PhaseSummary fullest_phase() {
  bench::io::PhaseSummary phase = failed_phase(3);
  phase.latencies.fill(std::numeric_limits<std::uint64_t>::max());
  phase.series.bytes.fill(std::numeric_limits<std::uint64_t>::max());
  return phase;
}

TEST(IoPhaseText, HasShorterListsWhereItMust) {
  bench::io::PhaseSummary phase = fullest_phase();
  phase.wrong.assign(1000, wrong_object());
  phase.slow_calls.assign(10, slow_call());
  for (std::size_t index = 0; index < phase.wrong.size(); ++index) phase.wrong[index].mismatch.first_byte = index;
  const std::string text = phase_text(phase, most_bytes);
  EXPECT_THAT(text.size(), Le(most_bytes));
  const json parsed = json::parse(text);
  EXPECT_EQ(parsed["slow_calls"].size(), 10U);
  EXPECT_EQ(parsed["latencies"].size(), 128U);
  EXPECT_EQ(parsed["series"]["bytes"].size(), 128U);
  ASSERT_THAT(parsed["wrong"].size(), Ge(10U));
  for (std::size_t index = 0; index < parsed["wrong"].size(); ++index) {
    EXPECT_EQ(parsed["wrong"][index]["first_byte"], index) << "the first ones are kept";
  }
}

TEST(IoPhaseText, FitsWhateverNamesAndErrorsAreLike) {
  bench::io::PhaseSummary phase = fullest_phase();
  // Six bytes each in JSON.
  const std::string name(4096, '\x01');
  for (auto& wrong : phase.wrong) wrong.file = wrong.host = name;
  for (auto& slow : phase.slow_calls) slow.file = name;
  phase.error = "writing " + std::string(100'000, '\xff');
  const std::string text = phase_text(phase, most_bytes);
  EXPECT_THAT(text.size(), Le(most_bytes));
  const json parsed = json::parse(text);
  EXPECT_THAT(parsed["wrong"], IsEmpty());
  EXPECT_EQ(parsed["num_mismatches"], 3);
  EXPECT_TRUE(parsed["error"].get<std::string>().starts_with("writing "));
  EXPECT_TRUE(parsed["error"].get<std::string>().ends_with("..."));
}

TEST(IoJsonStore, ThatFailsHasThePhasesThatWereWrittenAndSaysWhy) {
  const Folder folder;
  const auto errors = run_ranks({5}, [&](auto& cluster) {
    JsonStore store(cluster, io_so_far(), io_setup(cluster, folder / "run.json"));
    write_phase(store, cluster, phase_summary_of(0));
    write_phase(store, cluster, failed_phase(1));
    std::thread([&] { store.mark_incomplete("rank 3 is gone"); }).join();
  });
  EXPECT_THAT(errors, Each(""));
  const json document = document_at(folder / "run.json");
  EXPECT_THAT(Schema(bench::io::schema()).complaints(document), IsEmpty());
  EXPECT_EQ(document["complete"], false);
  EXPECT_EQ(document["incomplete_reason"], "rank 3 is gone");
  ASSERT_EQ(document["phases"].size(), 2U);
  EXPECT_EQ(document["phases"][0], document_of(finished(io_so_far()))["phases"][0]);
  EXPECT_EQ(document["phases"][1]["num_mismatches"], 3);
  EXPECT_THAT(document["operations"], IsEmpty());
}

}  // namespace
}  // namespace leadline::test::io_json_test
