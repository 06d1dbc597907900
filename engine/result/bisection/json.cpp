// SPDX-License-Identifier: Apache-2.0
// Builds the JSON document of a bisection test, key by key.
#include "result/bisection/json.hpp"

#include <utility>

#include "bench/bisection/options.hpp"
#include "result/json_parts.hpp"

namespace leadline::result::bisection {
namespace {

/// Null for no rank.
Json rank_json(std::int32_t rank) { return rank < 0 ? Json(nullptr) : Json(rank); }

Json pattern_json(const PatternSummary& pattern) {
  return {{"size_index", pattern.position.size_index},
          {"message_size_bytes", pattern.position.message_size_bytes},
          {"number", pattern.position.number},
          {"kind", name_of(pattern.position.kind)},
          {"index", pattern.position.index},
          {"repeat", pattern.position.repeat},
          {"name", pattern.position.name},
          {"num_connections", pattern.num_connections},
          {"bytes_per_s_mean", number(pattern.bytes_per_s_mean)},
          {"bytes_per_s_harmonic", number(pattern.bytes_per_s_harmonic)},
          {"bytes_per_s_min", number(pattern.bytes_per_s_min)},
          {"bytes_per_s_max", number(pattern.bytes_per_s_max)},
          {"bytes_per_s_full_load", number(pattern.bytes_per_s_full_load)},
          {"time_ns_mean", number(pattern.time_ns_mean)},
          {"slowest_from", rank_json(pattern.slowest_from)},
          {"slowest_to", rank_json(pattern.slowest_to)},
          {"accepted", pattern.accepted},
          {"begin_s", number(pattern.begin_s)},
          {"measuring_s", number(pattern.measuring_s)}};
}

Json baseline_json(const BaselineSample& sample) {
  return {{"size_index", sample.size_index},
          {"number", sample.number},
          {"from", rank_json(sample.from)},
          {"to", rank_json(sample.to)},
          {"time_ns", number(sample.time_ns)}};
}

Json bandwidth_json(const Interval& interval) {
  return {{"num", interval.num},
          {"bytes_per_s_mean", number(interval.mean)},
          {"bytes_per_s_half_width", number(interval.half_width)}};
}

Json ratio_json(const Interval& interval) {
  return {{"num", interval.num}, {"mean", number(interval.mean)}, {"half_width", number(interval.half_width)}};
}

Json size_json(const BisectionSummary& summary) {
  Json buckets = Json::array();
  for (const TimeBucket& bucket : summary.buckets) {
    buckets.push_back({{"low_ns", number(bucket.low_ns)}, {"high_ns", number(bucket.high_ns)}, {"num", bucket.num}});
  }
  return {{"size_index", summary.size_index},
          {"message_size_bytes", summary.message_size_bytes},
          {"num_patterns", summary.num_patterns},
          {"num_connections", summary.num_connections},
          {"stopped_by", name_of(summary.stopped_by)},
          {"ebb", bandwidth_json(summary.ebb)},
          {"full_load", bandwidth_json(summary.full_load)},
          {"baseline", bandwidth_json(summary.baseline)},
          {"relative", ratio_json(summary.relative)},
          {"bytes_per_s_harmonic", number(summary.bytes_per_s_harmonic)},
          {"bytes_per_s_min", number(summary.bytes_per_s_min)},
          {"bytes_per_s_p01", number(summary.bytes_per_s_p01)},
          {"bytes_per_s_p05", number(summary.bytes_per_s_p05)},
          {"bytes_per_s_median", number(summary.bytes_per_s_median)},
          {"bytes_per_s_max", number(summary.bytes_per_s_max)},
          {"buckets", std::move(buckets)},
          {"measuring_s", number(summary.measuring_s)}};
}

Json connection_json(const SlowConnection& connection) {
  return {{"size_index", connection.size_index},   {"number", connection.number},
          {"from", rank_json(connection.from)},    {"to", rank_json(connection.to)},
          {"time_ns", number(connection.time_ns)}, {"alone_time_ns", number(connection.alone_time_ns)},
          {"slow_alone", connection.slow_alone}};
}

Json component_json(const SlowComponent& component) {
  return {{"rank", rank_json(component.rank)},
          {"host", component.host},
          {"num_connections", component.num_connections},
          {"num_slow", component.num_slow},
          {"relative_median", number(component.relative_median)}};
}

}  // namespace

std::string json_text(const BisectionResult& result) {
  Json document = document_beginning("bisection", result, result.request, bench::bisection::options_of(result.request));
  document["verified_bytes"] = result.verified_bytes;
  document["hosts"] = hosts_json(result.hosts);
  document["findings"] = findings_json(result.findings);
  document["pattern_names"] = result.pattern_names;
  document["num_participants"] = result.num_participants;
  document["within_hosts"] = result.within_hosts;
  document["patterns"] = list_json(result.patterns, pattern_json);
  document["baseline"] = list_json(result.baseline, baseline_json);
  document["sizes"] = list_json(result.sizes, size_json);
  document["slow_connections"] = list_json(result.slow_connections, connection_json);
  document["slow_components"] = list_json(result.slow_components, component_json);
  return text_of(document);
}

JsonStore::JsonStore(cluster::Cluster& cluster, BisectionResult so_far, const BisectionFileSetup& setup)
    : document_(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(const bench::bisection::RankRow& row) {
  document_.add([&](BisectionResult& so_far) {
    so_far.patterns.insert(so_far.patterns.end(), row.patterns.begin(), row.patterns.end());
    so_far.baseline.insert(so_far.baseline.end(), row.baseline.begin(), row.baseline.end());
  });
}

}  // namespace leadline::result::bisection
