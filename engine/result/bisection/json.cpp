// SPDX-License-Identifier: Apache-2.0
// Builds the JSON document of a bisection test, key by key.
#include "result/bisection/json.hpp"

#include <utility>

#include "model/options.hpp"
#include "result/json_parts.hpp"

namespace leadline::result::bisection {

namespace {

/// Null for nobody.
Json rank_json(std::int32_t rank) { return rank < 0 ? Json(nullptr) : Json(rank); }

Json pattern_json(const PatternSummary& its) {
  return {{"size_index", its.place.size_index},
          {"message_size_bytes", its.place.message_size_bytes},
          {"number", its.place.number},
          {"kind", name_of(its.place.kind)},
          {"index", its.place.index},
          {"repeat", its.place.repeat},
          {"name", its.place.name},
          {"num_connections", its.num_connections},
          {"bytes_per_s_mean", number(its.bytes_per_s_mean)},
          {"bytes_per_s_harmonic", number(its.bytes_per_s_harmonic)},
          {"bytes_per_s_min", number(its.bytes_per_s_min)},
          {"bytes_per_s_max", number(its.bytes_per_s_max)},
          {"bytes_per_s_full_load", number(its.bytes_per_s_full_load)},
          {"time_ns_mean", number(its.time_ns_mean)},
          {"slowest_from", rank_json(its.slowest_from)},
          {"slowest_to", rank_json(its.slowest_to)},
          {"accepted", its.accepted},
          {"begin_s", number(its.begin_s)},
          {"measuring_s", number(its.measuring_s)}};
}

Json baseline_json(const BaselineSample& its) {
  return {{"size_index", its.size_index},
          {"number", its.number},
          {"from", rank_json(its.from)},
          {"to", rank_json(its.to)},
          {"time_ns", number(its.time_ns)}};
}

Json bandwidth_json(const Interval& its) {
  return {{"num", its.num}, {"bytes_per_s_mean", number(its.mean)}, {"bytes_per_s_half_width", number(its.half_width)}};
}

Json ratio_json(const Interval& its) {
  return {{"num", its.num}, {"mean", number(its.mean)}, {"half_width", number(its.half_width)}};
}

Json size_json(const BisectionSummary& its) {
  Json buckets = Json::array();
  for (const TimeBucket& bucket : its.buckets) {
    buckets.push_back({{"low_ns", number(bucket.low_ns)}, {"high_ns", number(bucket.high_ns)}, {"num", bucket.num}});
  }
  return {{"size_index", its.size_index},
          {"message_size_bytes", its.message_size_bytes},
          {"num_patterns", its.num_patterns},
          {"num_connections", its.num_connections},
          {"stopped_by", name_of(its.stopped_by)},
          {"ebb", bandwidth_json(its.ebb)},
          {"full_load", bandwidth_json(its.full_load)},
          {"baseline", bandwidth_json(its.baseline)},
          {"relative", ratio_json(its.relative)},
          {"bytes_per_s_harmonic", number(its.bytes_per_s_harmonic)},
          {"bytes_per_s_min", number(its.bytes_per_s_min)},
          {"bytes_per_s_p01", number(its.bytes_per_s_p01)},
          {"bytes_per_s_p05", number(its.bytes_per_s_p05)},
          {"bytes_per_s_median", number(its.bytes_per_s_median)},
          {"bytes_per_s_max", number(its.bytes_per_s_max)},
          {"buckets", std::move(buckets)},
          {"measuring_s", number(its.measuring_s)}};
}

Json connection_json(const SlowConnection& its) {
  return {{"size_index", its.size_index},   {"number", its.number},
          {"from", rank_json(its.from)},    {"to", rank_json(its.to)},
          {"time_ns", number(its.time_ns)}, {"alone_time_ns", number(its.alone_time_ns)},
          {"slow_alone", its.slow_alone}};
}

Json component_json(const SlowComponent& its) {
  return {{"rank", rank_json(its.rank)},
          {"host", its.host},
          {"num_connections", its.num_connections},
          {"num_slow", its.num_slow},
          {"relative_median", number(its.relative_median)}};
}

}  // namespace

std::string json_text(const BisectionResult& result) {
  Json document = document_beginning("bisection", result, result.request, options_of(result.request));
  document["verified_bytes"] = result.verified_bytes;
  document["hosts"] = hosts_json(result.hosts);
  document["findings"] = findings_json(result.findings);
  document["pattern_names"] = result.pattern_names;
  document["num_players"] = result.num_players;
  document["within_hosts"] = result.within_hosts;
  document["patterns"] = list_json(result.patterns, pattern_json);
  document["baseline"] = list_json(result.baseline, baseline_json);
  document["sizes"] = list_json(result.sizes, size_json);
  document["slow_connections"] = list_json(result.slow_connections, connection_json);
  document["slow_places"] = list_json(result.slow_components, component_json);
  return text_of(document);
}

}  // namespace leadline::result::bisection
