// SPDX-License-Identifier: Apache-2.0
// Builds the JSON document of a link test, key by key.
#include "result/json.hpp"

#include "bench/link/options.hpp"
#include "result/diagnosis_json.hpp"
#include "result/json_parts.hpp"
#include "result/slice_facts.hpp"

namespace leadline::result {
namespace {

/// Times and the bandwidths that belong to them; the fastest pair is the one with the least time.
Json summary_json(const PairSummary& summary, std::uint64_t message_size_bytes, Direction direction) {
  // A class without pairs has no times, whatever its members hold.
  const auto time = [&](double time_ns) { return summary.num_pairs > 0 ? number(time_ns) : Json(nullptr); };
  const auto bandwidth = [&](double time_ns) {
    if (summary.num_pairs == 0) return Json(nullptr);
    return number(bandwidth_bytes_per_s(time_ns, message_size_bytes, direction));
  };
  return {
      {"num_pairs", summary.num_pairs},
      {"time_ns_min", time(summary.time_ns_min)},
      {"time_ns_p01", time(summary.time_ns_p01)},
      {"time_ns_p05", time(summary.time_ns_p05)},
      {"time_ns_p25", time(summary.time_ns_p25)},
      {"time_ns_median", time(summary.time_ns_median)},
      {"time_ns_p75", time(summary.time_ns_p75)},
      {"time_ns_p95", time(summary.time_ns_p95)},
      {"time_ns_p99", time(summary.time_ns_p99)},
      {"time_ns_max", time(summary.time_ns_max)},
      {"time_ns_mean", time(summary.time_ns_mean)},
      {"median_interval_ns",
       Json::array({time(summary.median_interval_low_ns), time(summary.median_interval_high_ns)})},
      {"bandwidth_bytes_per_s_min", bandwidth(summary.time_ns_max)},
      {"bandwidth_bytes_per_s_median", bandwidth(summary.time_ns_median)},
      {"bandwidth_bytes_per_s_max", bandwidth(summary.time_ns_min)},
      {"bandwidth_bytes_per_s_at_mean_time", bandwidth(summary.time_ns_mean)},
      {"median_interval_bytes_per_s",
       Json::array({bandwidth(summary.median_interval_high_ns), bandwidth(summary.median_interval_low_ns)})},
  };
}

/// What a number ranges over, least to greatest; null where it was not measured.
Json spread_json(const Spread& spread, const char* unit) {
  if (spread.num == 0) return nullptr;
  const std::string name = unit;
  return {{"num", spread.num},
          {name + "_min", number(spread.min)},
          {name + "_mean", number(spread.mean)},
          {name + "_max", number(spread.max)}};
}

Json all_to_all_json(const AllToAllSummary& summary) {
  if (summary.before.num + summary.after.num + summary.each_round.num == 0) return nullptr;
  return {{"message_size_bytes", summary.message_size_bytes},
          {"before", spread_json(summary.before, "time_ns")},
          {"after", spread_json(summary.after, "time_ns")},
          {"each_round", spread_json(summary.each_round, "time_ns")}};
}

Json slow_pair_json(const SlowPairDetails& details, std::uint64_t message_size_bytes, Direction direction) {
  const SlowPair& pair = details.pair;
  const auto bandwidth = [&](double time_ns) {
    return number(bandwidth_bytes_per_s(time_ns, message_size_bytes, direction));
  };
  return {
      {"from", pair.from},
      {"to", pair.to},
      {"from_host", details.from_host},
      {"to_host", details.to_host},
      {"time_ns", number(pair.time_ns)},
      {"bandwidth_bytes_per_s", bandwidth(pair.time_ns)},
      {"retest_time_ns", pair.retest_time_ns > 0 ? number(pair.retest_time_ns) : Json(nullptr)},
      {"retest_bandwidth_bytes_per_s", bandwidth(pair.retest_time_ns)},
      {"company_to_alone_ratio", number(details.ratio)},
      {"verdict", name_of(details.verdict)},
  };
}

Json slice_json(const LinkResult& result, std::size_t index) {
  const SliceSummary& summary = result.slices[index];
  const std::uint64_t size = summary.slice.message_size_bytes;
  const Direction direction = result.request.direction;
  Json slowest = Json::array();
  for (const auto& details : slow_pairs_of(result, index)) slowest.push_back(slow_pair_json(details, size, direction));
  return {
      {"repeat", summary.slice.repeat},
      {"permutation", summary.slice.permutation < 0 ? Json(nullptr) : Json(summary.slice.permutation)},
      {"size_index", summary.slice.size_index},
      {"message_size_bytes", size},
      {"all", summary_json(summary.all, size, direction)},
      {"same_host", summary_json(summary.same_host, size, direction)},
      {"between_hosts", summary_json(summary.between_hosts, size, direction)},
      {"all_to_all", all_to_all_json(summary.all_to_all)},
      {"bisection", spread_json(summary.bisection_bytes_per_s, "bandwidth_bytes_per_s")},
      {"slowest_pairs", std::move(slowest)},
      {"diagnosis", summary.diagnosis ? diagnosis_json(*summary.diagnosis) : Json(nullptr)},
      {"measuring_s", number(summary.measuring_s)},
      {"slowest_pairs_s", number(summary.slowest_pairs_s)},
      {"retest_s", number(summary.retest_s)},
      {"diagnosis_s", number(summary.diagnosis_s)},
  };
}

JsonFile::IncompleteDocument incomplete(LinkResult so_far) {
  so_far.complete = false;
  return [so_far = std::move(so_far)](const std::string& reason) mutable {
    so_far.incomplete_reason = reason;
    return json_text(so_far);
  };
}

}  // namespace

std::string json_text(const LinkResult& result) {
  Json slices = Json::array();
  for (std::size_t index = 0; index < result.slices.size(); ++index) slices.push_back(slice_json(result, index));
  Json document = document_beginning("link", result, result.request, bench::link::options_of(result.request));
  document["num_rounds"] = result.num_rounds;
  document["verified_bytes"] = result.verified_bytes;
  document["hosts"] = hosts_json(result.hosts);
  document["findings"] = findings_json(result.findings);
  document["slices"] = std::move(slices);
  return text_of(document);
}

JsonStore::JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkResultFileSetup& setup)
    : file_(cluster, setup.path, setup.existing, incomplete(std::move(so_far))) {}

void JsonStore::finish(const LinkResult& result) {
  file_.finish([&] { return json_text(result); });
}

}  // namespace leadline::result
