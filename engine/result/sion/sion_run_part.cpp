// SPDX-License-Identifier: Apache-2.0
// The part of a SION result's extension that belongs to the whole run: JSON texts, made and read again.
#include <cmath>
#include <limits>

#include "result/json_parts.hpp"
#include "result/shared_file.hpp"
#include "result/sion/sion_offsets.hpp"

namespace leadline::result {

namespace {

Json times_json(const std::array<double, 3>& times) {
  return {{"min", times[0]}, {"max", times[1]}, {"mean", times[2]}};
}

Json linktest_json(const LinkTestOrigin& its) {
  return {{"num_iterations", its.num_iterations},
          {"message_size_bytes", its.message_size_bytes},
          {"has_all_to_all", its.has_all_to_all},
          {"is_serial", its.is_serial},
          {"is_permuted", its.is_permuted},
          {"time_s", times_json(its.times_s)},
          {"all_to_all_time_s", times_json(its.all_to_all_times_s)}};
}

std::string start_text(const LinkResultHeader& header) {
  Json provenance = Json::object(), options = Json::object();
  for (const auto& [name, value] : header.provenance) {
    std::visit([&, &key = name](const auto& its) { provenance[key] = its; }, value);
  }
  for (const auto& [name, value] : header.options) options[name] = value;
  Json start = {{"format", "leadline"},
                {"format_version", result_format_version},
                {"benchmark", "link"},
                {"nonce", header.nonce},
                {"provenance", provenance},
                {"options", options},
                {"message_size_bytes", header.message_sizes_bytes}};
  if (header.linktest) start["linktest"] = linktest_json(*header.linktest);
  return line_of(start);
}

std::string end_text(const LinkResultHeader& header) {
  if (!header.end_utc && !header.retests) return "";
  Json end = Json::object();
  if (header.end_utc) end["end_utc"] = *header.end_utc;
  if (header.retests) {
    Json columns = {{"repeat", Json::array()}, {"size_index", Json::array()}, {"from", Json::array()},
                    {"to", Json::array()},     {"time_ns", Json::array()},    {"retest_time_ns", Json::array()}};
    for (const Retest& retest : *header.retests) {
      columns["repeat"].push_back(retest.repeat);
      columns["size_index"].push_back(retest.size_index);
      columns["from"].push_back(retest.from);
      columns["to"].push_back(retest.to);
      columns["time_ns"].push_back(retest.time_ns);
      columns["retest_time_ns"].push_back(retest.retest_time_ns);
    }
    end["retest"] = columns;
  }
  return line_of(end);
}

HeaderValue value_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  // JSON has no NaN.
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

std::array<double, 3> times_of(const Json& json) {
  return {number_or_nan(json.at("min")), number_or_nan(json.at("max")), number_or_nan(json.at("mean"))};
}

LinkTestOrigin linktest_of(const Json& json) {
  LinkTestOrigin its;
  json.at("num_iterations").get_to(its.num_iterations);
  json.at("message_size_bytes").get_to(its.message_size_bytes);
  json.at("has_all_to_all").get_to(its.has_all_to_all);
  json.at("is_serial").get_to(its.is_serial);
  json.at("is_permuted").get_to(its.is_permuted);
  its.times_s = times_of(json.at("time_s"));
  its.all_to_all_times_s = times_of(json.at("all_to_all_time_s"));
  return its;
}

void take_start(const Json& start, LinkResultHeader& header) {
  start.at("format_version").get_to(header.format_version);
  start.at("nonce").get_to(header.nonce);
  const Json &provenance = start.at("provenance"), &options = start.at("options");
  for (const std::string& name : provenance.names()) {
    header.provenance.emplace_back(name, value_of(provenance.at(name)));
  }
  for (const std::string& name : options.names()) {
    header.options.emplace_back(name, options.at(name).get<std::string>());
  }
  start.at("message_size_bytes").get_to(header.message_sizes_bytes);
  if (start.find("linktest") != nullptr) header.linktest = linktest_of(start.at("linktest"));
}

void take_end(const Json& end, LinkResultHeader& header) {
  if (end.find("end_utc") != nullptr) header.end_utc = end.at("end_utc").get<std::string>();
  if (end.find("retest") == nullptr) return;
  const Json& columns = end.at("retest");
  std::vector<Retest> retests;
  for (std::size_t index = 0; index < columns.at("from").size(); ++index) {
    const auto whole = [&](const char* name) { return columns.at(name).at(index).get<std::int32_t>(); };
    retests.push_back({whole("repeat"), whole("size_index"), whole("from"), whole("to"),
                       number_or_nan(columns.at("time_ns").at(index)),
                       number_or_nan(columns.at("retest_time_ns").at(index))});
  }
  header.retests = std::move(retests);
}

}  // namespace

std::string encode_run_part(const LinkResultHeader& header) {
  std::string bytes;
  sion::append_number(bytes, std::uint64_t{header.complete ? 1U : 0U}, sion::host_byte_order);
  bytes += padded(header.incomplete_reason, run_reason_bytes);
  for (const std::string& text : {start_text(header), end_text(header), header.summary.value_or("")}) {
    sion::append_number(bytes, static_cast<std::uint64_t>(text.size()), sion::host_byte_order);
    bytes += text;
  }
  return bytes;
}

std::string decode_run_texts(std::string_view start, std::string_view end, std::string_view summary,
                             LinkResultHeader& header) {
  try {
    take_start(Json::parse(start), header);
    if (!end.empty()) take_end(Json::parse(end), header);
    if (!summary.empty()) header.summary = std::string(summary);
  } catch (const JsonError& error) {
    return error.what();
  }
  return "";
}

}  // namespace leadline::result
