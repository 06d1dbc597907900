// SPDX-License-Identifier: Apache-2.0
// Builds the JSON object of a phase, key by key.
#include "result/io/phase_json.hpp"

#include <cmath>
#include <utility>

namespace leadline::result::io {

namespace {

/// Null for nobody.
Json rank_json(std::int32_t rank) { return rank < 0 ? Json(nullptr) : Json(rank); }

/// Null for what is not known.
Json if_known(bool is_known, std::uint64_t num) { return is_known ? Json(num) : Json(nullptr); }

Json spread_json(const RankSpread& its) {
  return {{"num", its.num},
          {"min", number(its.min)},
          {"mean", number(its.mean)},
          {"max", number(its.max)},
          {"min_rank", rank_json(its.min_rank)},
          {"max_rank", rank_json(its.max_rank)}};
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

Json series_json(const ByteSeries& its) {
  std::size_t num = its.bytes.size();
  while (num > 0 && its.bytes.at(num - 1) == 0) --num;
  Json bytes = Json::array();
  for (std::size_t index = 0; index < num; ++index) bytes.push_back(its.bytes.at(index));
  return {{"bin_ns", its.bin_ns}, {"bytes", std::move(bytes)}};
}

Json cache_json(const CacheState& its) {
  return {{"is_known", its.is_known},
          {"pages", if_known(its.is_known, its.pages)},
          {"cached", if_known(its.is_known, its.cached)},
          {"dirty", if_known(its.is_known, its.dirty)},
          {"writeback", if_known(its.is_known, its.writeback)}};
}

Json key_json(const memory::ObjectKey& its) {
  return {{"run", its.run},
          {"rank", its.rank},
          {"file", its.file},
          {"object", its.object},
          {"offset_bytes", its.offset_bytes},
          {"generation", its.generation}};
}

Json wrong_json(const WrongObject& its) {
  const memory::Mismatch& mismatch = its.mismatch;
  return {{"kind", memory::name_of(mismatch.kind)},
          {"expected", key_json(mismatch.expected)},
          {"found", mismatch.found ? key_json(*mismatch.found) : Json(nullptr)},
          {"first_byte", mismatch.first_byte},
          {"num_bytes", mismatch.num_bytes},
          {"xor_mask", mismatch.xor_mask},
          {"read_by", rank_json(its.read_by)},
          {"host", its.host},
          {"file", its.file}};
}

Json straggler_json(const Straggler& its) {
  return {{"rank", rank_json(its.rank)},
          {"host", its.host},
          {"file", its.file},
          {"bytes_per_s", number(its.bytes_per_s)},
          {"relative", number(its.relative)},
          {"mostly", name_of(its.mostly)}};
}

Json slow_call_json(const SlowCall& its) {
  return {{"rank", rank_json(its.rank)},
          {"host", its.host},
          {"file", its.file},
          {"offset_bytes", its.offset_bytes},
          {"size_bytes", its.size_bytes},
          {"begin_ns", number(its.begin_ns)},
          {"time_ns", number(its.time_ns)}};
}

void add_rates(Json& json, const PhaseSummary& its) {
  json["wall_ns"] = number(its.wall_ns);
  json["bytes_per_s"] = number(its.bytes_per_s);
  json["bytes_per_s_mean"] = number(its.bytes_per_s_mean);
  json["bytes_per_s_wall"] = number(its.bytes_per_s_wall);
  json["bytes_per_s_transfer"] = number(its.bytes_per_s_transfer);
  json["fill_bytes_per_s"] = number(its.fill_bytes_per_s);
  json["verify_bytes_per_s"] = number(its.verify_bytes_per_s);
  json["io"] = spread_json(its.io);
  json["times"] = times_json(its.times);
  json["has_stop"] = its.has_stop;
  json["stop_ns"] = its.has_stop ? number(its.stop_ns) : Json(nullptr);
  json["bytes_at_stop"] = if_known(its.has_stop, its.bytes_at_stop);
  json["bytes_per_s_at_stop"] = its.has_stop ? number(its.bytes_per_s_at_stop) : Json(nullptr);
}

void add_calls(Json& json, const PhaseSummary& its) {
  json["call_ns_min"] = number(its.call_ns_min);
  json["call_ns_p50"] = number(its.call_ns_p50);
  json["call_ns_p90"] = number(its.call_ns_p90);
  json["call_ns_p99"] = number(its.call_ns_p99);
  json["call_ns_p999"] = number(its.call_ns_p999);
  json["call_ns_max"] = number(its.call_ns_max);
  json["latencies"] = latencies_json(its.latencies);
  json["series"] = series_json(its.series);
}

}  // namespace

Json phase_json(const PhaseSummary& its) {
  const bool is_read = its.place.operation == IoOperation::read;
  Json json = {{"index", its.place.index},
               {"operation", name_of(its.place.operation)},
               {"repeat", its.place.repeat},
               {"is_complete", its.is_complete},
               {"error", its.error},
               {"bytes", its.bytes},
               {"message_bytes", its.message_bytes},
               {"num_objects", its.num_objects},
               {"num_calls", its.num_calls},
               {"num_continued", its.num_continued}};
  add_rates(json, its);
  add_calls(json, its);
  json["cache_before"] = cache_json(its.cache_before);
  json["cache_after"] = cache_json(its.cache_after);
  json["source"] = is_read ? Json(name_of(its.source)) : Json(nullptr);
  json["is_durable"] = is_read ? Json(nullptr) : Json(its.is_durable);
  json["num_mismatches"] = its.num_mismatches;
  json["wrong"] = list_json(its.wrong, wrong_json);
  json["stragglers"] = list_json(its.stragglers, straggler_json);
  json["slow_calls"] = list_json(its.slow_calls, slow_call_json);
  return json;
}

}  // namespace leadline::result::io
