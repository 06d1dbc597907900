// SPDX-License-Identifier: Apache-2.0
// Builds the shared parts of JSON documents, key by key.
#include "result/json_parts.hpp"

#include <cmath>
#include <limits>
#include <variant>

namespace leadline::result {

namespace {

constexpr int json_format_version = 1;

Json options_json(const std::vector<Option>& options) {
  Json json = Json::object();
  for (const Option& option : options) {
    std::visit([&](const auto& value) { json[json_name(option)] = value; }, option.value);
  }
  return json;
}

Json provenance_json(const Provenance& from, const std::vector<std::string>& command_line) {
  return {
      {"version", from.version},
      {"commit", from.commit},
      {"command_line", command_line},
      {"start_utc", from.start_utc},
      {"end_utc", from.end_utc},
      {"launcher", from.launcher},
      {"kernel", from.kernel},
      {"transport",
       {{"name", from.transport.name},
        {"library", from.transport.library},
        {"device", from.transport.device},
        {"simulated", from.transport.simulated}}},
      {"clock",
       {{"source", from.clock.source},
        {"resolution_ns", number(from.clock.resolution_ns)},
        {"cost_ns", number(from.clock.cost_ns)}}},
      {"wait", name_of(from.wait)},
      {"control_plane_on_loopback", from.control_plane_on_loopback},
      {"num_ranks", from.num_ranks},
      {"num_hosts", from.num_hosts},
  };
}

Json connections_json(const std::optional<Connections>& from) {
  if (!from) return nullptr;
  const auto rank_or_null = [](std::int32_t rank) { return rank < 0 ? Json(nullptr) : Json(rank); };
  return {
      {"num_opened", from->num_opened},
      {"total_s_max", from->total_s_max},
      {"longest_s", from->longest_s},
      {"longest_rank", rank_or_null(from->longest_rank)},
      {"longest_partner", rank_or_null(from->longest_partner)},
  };
}

}  // namespace

double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Json document_beginning(const char* benchmark, const RunResult& result, const RunRequest& request,
                        const std::vector<Option>& options) {
  return {
      {"benchmark", benchmark},
      {"format_version", json_format_version},
      {"complete", result.complete},
      {"incomplete_reason", result.complete ? "" : result.incomplete_reason},
      {"options", options_json(options)},
      {"provenance", provenance_json(result.provenance, request.command_line)},
      {"connections", connections_json(result.connections)},
  };
}

Json hosts_json(const std::vector<HostRanks>& hosts) {
  Json list = Json::array();
  for (const HostRanks& host : hosts) list.push_back({{"host", host.host}, {"ranks", host.ranks}});
  return list;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"id", finding.id},
                    {"severity", leadline::name_of(finding.severity)},
                    {"message", finding.message},
                    {"evidence", finding.evidence},
                    {"advice", finding.advice}});
  }
  return list;
}

std::string text_of(const Json& document) { return document.indented() + "\n"; }

std::string line_of(const Json& document) { return document.in_one_line(); }

}  // namespace leadline::result
