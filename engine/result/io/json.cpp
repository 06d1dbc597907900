// SPDX-License-Identifier: Apache-2.0
// Builds the JSON document of a parallel file test, and the short form of its phases.
#include "result/io/json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/io/options.hpp"
#include "result/json_parts.hpp"

namespace leadline::result::io {
namespace {

/// Null for no rank.
Json rank_json(std::int32_t rank) { return rank < 0 ? Json(nullptr) : Json(rank); }

/// Null for what is not known.
Json if_known(bool is_known, std::uint64_t num) { return is_known ? Json(num) : Json(nullptr); }

Json spread_json(const RankSpread& spread) {
  return {{"num", spread.num},
          {"min", number(spread.min)},
          {"mean", number(spread.mean)},
          {"max", number(spread.max)},
          {"min_rank", rank_json(spread.min_rank)},
          {"max_rank", rank_json(spread.max_rank)}};
}

Json times_json(const std::array<RankSpread, num_io_times>& times) {
  Json json = Json::object();
  for (std::size_t index = 0; index < num_io_times; ++index) {
    json[name_of(static_cast<IoTime>(index))] = spread_json(times.at(index));
  }
  return json;
}

/// The first bucket holds all below it, the last all above.
Json latencies_json(const LatencyHistogram& latencies) {
  const auto edge_ns = [](std::size_t index) { return std::exp2(10 + static_cast<double>(index) / 4); };
  Json list = Json::array();
  for (std::size_t index = 0; index < latencies.size(); ++index) {
    if (latencies.at(index) == 0) continue;
    const bool is_last = index + 1 == latencies.size();
    list.push_back({{"low_ns", index == 0 ? 0.0 : edge_ns(index)},
                    {"high_ns", is_last ? Json(nullptr) : Json(edge_ns(index + 1))},
                    {"num", latencies.at(index)}});
  }
  return list;
}

Json series_json(const ByteSeries& series) {
  std::size_t num = series.bytes.size();
  while (num > 0 && series.bytes.at(num - 1) == 0) --num;
  Json bytes = Json::array();
  for (std::size_t index = 0; index < num; ++index) bytes.push_back(series.bytes.at(index));
  return {{"bin_ns", series.bin_ns}, {"bytes", std::move(bytes)}};
}

Json cache_json(const CacheState& cache) {
  return {{"is_known", cache.is_known},
          {"pages", if_known(cache.is_known, cache.pages)},
          {"cached", if_known(cache.is_known, cache.cached)},
          {"dirty", if_known(cache.is_known, cache.dirty)},
          {"writeback", if_known(cache.is_known, cache.writeback)}};
}

Json at_interruption_json(const RankAtInterruption& at) {
  return {{"rank", rank_json(at.rank)},
          {"time_ns", number(at.time_ns)},
          {"bytes", at.bytes},
          {"message_bytes", at.message_bytes},
          {"num_objects", at.num_objects}};
}

Json key_json(const memory::ObjectKey& key) {
  return {{"run", key.run},
          {"rank", key.rank},
          {"file", key.file},
          {"object", key.object},
          {"offset_bytes", key.offset_bytes},
          {"generation", key.generation}};
}

Json wrong_json(const WrongObject& object) {
  const memory::Mismatch& mismatch = object.mismatch;
  return {{"kind", memory::name_of(mismatch.kind)},
          {"expected", key_json(mismatch.expected)},
          {"found", mismatch.found ? key_json(*mismatch.found) : Json(nullptr)},
          {"first_byte", mismatch.first_byte},
          {"num_bytes", mismatch.num_bytes},
          {"xor_mask", mismatch.xor_mask},
          {"read_by", rank_json(object.read_by)},
          {"host", object.host},
          {"file", object.file}};
}

Json straggler_json(const Straggler& straggler) {
  return {{"rank", rank_json(straggler.rank)},
          {"host", straggler.host},
          {"file", straggler.file},
          {"bytes_per_s", number(straggler.bytes_per_s)},
          {"relative", number(straggler.relative)},
          {"mostly", name_of(straggler.mostly)}};
}

Json slow_call_json(const SlowCall& call) {
  return {{"rank", rank_json(call.rank)},
          {"host", call.host},
          {"file", call.file},
          {"offset_bytes", call.offset_bytes},
          {"size_bytes", call.size_bytes},
          {"begin_ns", number(call.begin_ns)},
          {"time_ns", number(call.time_ns)}};
}

void add_rates(Json& json, const PhaseSummary& summary) {
  json["wall_ns"] = number(summary.wall_ns);
  json["bytes_per_s"] = number(summary.bytes_per_s);
  json["bytes_per_s_mean"] = number(summary.bytes_per_s_mean);
  json["bytes_per_s_wall"] = number(summary.bytes_per_s_wall);
  json["bytes_per_s_transfer"] = number(summary.bytes_per_s_transfer);
  json["fill_bytes_per_s"] = number(summary.fill_bytes_per_s);
  json["verify_bytes_per_s"] = number(summary.verify_bytes_per_s);
  json["io"] = spread_json(summary.io);
  json["times"] = times_json(summary.times);
  json["has_stop"] = summary.has_stop;
  json["stop_ns"] = summary.has_stop ? number(summary.stop_ns) : Json(nullptr);
  json["bytes_at_stop"] = if_known(summary.has_stop, summary.bytes_at_stop);
  json["bytes_per_s_at_stop"] = summary.has_stop ? number(summary.bytes_per_s_at_stop) : Json(nullptr);
}

void add_calls(Json& json, const PhaseSummary& summary) {
  json["call_ns_min"] = number(summary.call_ns_min);
  json["call_ns_p50"] = number(summary.call_ns_p50);
  json["call_ns_p90"] = number(summary.call_ns_p90);
  json["call_ns_p99"] = number(summary.call_ns_p99);
  json["call_ns_p999"] = number(summary.call_ns_p999);
  json["call_ns_max"] = number(summary.call_ns_max);
  json["latencies"] = latencies_json(summary.latencies);
  json["series"] = series_json(summary.series);
}

/// Null for none.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json hint_json(const HintInForce& hint) {
  return {{"key", hint.key},
          {"asked", text_or_null(hint.asked)},
          {"granted", text_or_null(hint.granted)},
          {"is_confirmed", hint.is_confirmed}};
}

Json operation_json(const OperationSummary& summary) {
  return {{"operation", name_of(summary.operation)},
          {"num", summary.num},
          {"bytes_per_s_min", number(summary.min)},
          {"bytes_per_s_median", number(summary.median)},
          {"bytes_per_s_mean", number(summary.mean)},
          {"bytes_per_s_max", number(summary.max)},
          {"bytes_per_s_half_width", number(summary.half_width)}};
}

/// Takes a tenth of the longest list; where all are empty, half of the error. False: nothing is left to take.
bool shorten(Json& phase) {
  std::string longest;
  std::size_t longest_size = 0;
  for (const char* name : {"wrong", "stragglers", "slow_calls", "at_interruption"}) {
    const Json& list = phase[name];
    if (const std::size_t size = list.size() == 0 ? 0 : line_of(list).size(); size > longest_size) {
      longest = name;
      longest_size = size;
    }
  }
  if (longest_size > 0) {
    Json& list = phase[longest];
    list.remove_last(std::max<std::size_t>(1, list.size() / 10));
    return true;
  }
  constexpr std::size_t shortest_error = 16;
  auto error = phase["error"].get<std::string>();
  if (error.size() <= shortest_error) return false;
  error.resize(error.size() / 2 - 3);
  phase["error"] = error + "...";
  return true;
}

}  // namespace

Json phase_json(const PhaseSummary& summary) {
  const bool is_read = summary.position.operation == IoOperation::read;
  Json json = {{"index", summary.position.index},
               {"operation", name_of(summary.position.operation)},
               {"repeat", summary.position.repeat},
               {"is_complete", summary.is_complete},
               {"is_interrupted", summary.is_interrupted},
               {"error", summary.error},
               {"bytes", summary.bytes},
               {"message_bytes", summary.message_bytes},
               {"num_objects", summary.num_objects},
               {"num_calls", summary.num_calls},
               {"num_continued", summary.num_continued}};
  add_rates(json, summary);
  add_calls(json, summary);
  json["cache_before"] = cache_json(summary.cache_before);
  json["cache_after"] = cache_json(summary.cache_after);
  json["source"] = is_read ? Json(name_of(summary.source)) : Json(nullptr);
  json["is_durable"] = is_read ? Json(nullptr) : Json(summary.is_durable);
  json["num_mismatches"] = summary.num_mismatches;
  json["wrong"] = list_json(summary.wrong, wrong_json);
  json["stragglers"] = list_json(summary.stragglers, straggler_json);
  json["slow_calls"] = list_json(summary.slow_calls, slow_call_json);
  json["at_interruption"] = list_json(summary.at_interruption, at_interruption_json);
  return json;
}

std::string json_text(const IoResult& result) {
  Json document = document_beginning("io", result, result.request, bench::io::options_of(result.request));
  document["verified_bytes"] = result.verified_bytes;
  document["hosts"] = hosts_json(result.hosts);
  document["findings"] = findings_json(result.findings);
  document["backend_library"] = result.backend_library;
  document["file_system"] = result.file_system;
  document["run"] = result.run;
  document["num_objects"] = result.num_objects;
  document["io_ranks"] = result.io_ranks;
  document["files"] = result.files;
  document["hints"] = list_json(result.hints, hint_json);
  document["phases"] = list_json(result.phases, phase_json);
  document["operations"] = list_json(result.operations, operation_json);
  return text_of(document);
}

std::string phase_text(const PhaseSummary& summary, std::size_t most_bytes) {
  Json phase = phase_json(summary);
  std::string text = line_of(phase);
  while (text.size() > most_bytes && shorten(phase)) text = line_of(phase);
  return text;
}

JsonStore::JsonStore(cluster::Cluster& cluster, IoResult so_far, const IoFileSetup& setup)
    : document_(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(const PhasePosition&, const RankPhase&, const PhaseSummary& summary) {
  document_.add([&](IoResult& so_far) { so_far.phases.push_back(summary); });
}

void JsonStore::keep_interrupted(const PhaseSummary& summary) {
  document_.add([&](IoResult& so_far) {
    if (std::cmp_equal(so_far.phases.size(), summary.position.index)) so_far.phases.push_back(summary);
  });
}

}  // namespace leadline::result::io
