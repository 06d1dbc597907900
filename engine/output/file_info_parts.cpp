// SPDX-License-Identifier: Apache-2.0
// Status, provenance and hosts of a result as text and as JSON.
#include "output/file_info_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {

namespace {

constexpr std::size_t most_hosts_shown = 16;

std::string hosts_text(const std::vector<HostRanks>& hosts) {
  std::string text;
  for (std::size_t index = 0; index < std::min(hosts.size(), most_hosts_shown); ++index) {
    text += fmt::format("{}{} ({})", index == 0 ? "" : ", ", harmless(hosts[index].host), hosts[index].ranks);
  }
  if (hosts.size() > most_hosts_shown) text += fmt::format(" and {} more", hosts.size() - most_hosts_shown);
  return text;
}

}  // namespace

std::vector<HostRanks> hosts_of(std::int64_t num_ranks, const std::function<std::string(std::int64_t rank)>& host) {
  std::map<std::string, std::size_t> indices;
  std::vector<HostRanks> hosts;
  std::vector<std::vector<int>> ranks;
  for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
    const std::string name = host(rank);
    const auto [at, is_new] = indices.try_emplace(name, hosts.size());
    if (is_new) {
      hosts.push_back({name, ""});
      ranks.emplace_back();
    }
    ranks[at->second].push_back(static_cast<int>(rank));
  }
  for (std::size_t index = 0; index < hosts.size(); ++index) hosts[index].ranks = number_ranges(ranks[index]);
  return hosts;
}

std::string line(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<16} {}\n", name, value);
}

std::string harmless(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }, '?');
  return text;
}

std::string run_text(const result::RunHeader& header) {
  const auto from = [&](const char* name) { return harmless(result::provenance_text(header, name)); };
  std::string text = line("complete", header.complete ? "yes" : "no: " + harmless(header.incomplete_reason));
  text +=
      line("program", from("version").empty() ? "" : fmt::format("leadline {} {}", from("version"), from("commit")));
  text += line("command line", from("command_line") == "[]" ? "" : from("command_line"));
  text += line("start", from("start_utc"));
  text += line("end", harmless(header.end_utc.value_or("")));
  return text + line("transport",
                     from("transport") + (from("transport_library").empty() ? "" : ", " + from("transport_library")));
}

std::string ranks_text(const result::RunHeader& header, const std::vector<HostRanks>& hosts) {
  const std::string num_ranks = counted(static_cast<std::uint64_t>(header.num_ranks), "rank");
  return line("ranks", fmt::format("{} on {}", num_ranks, counted(hosts.size(), "host"))) +
         line("hosts", hosts_text(hosts));
}

std::string sizes_text(const result::RunHeader& header) {
  std::vector<std::string> sizes;
  for (const std::uint64_t size : header.message_sizes_bytes) sizes.push_back(format_bytes(size));
  return line("message sizes", fmt::format("{}", fmt::join(sizes, ", ")));
}

Json run_json(const char* benchmark, const result::RunHeader& header) {
  return {{"benchmark", benchmark},        {"format_version", header.format_version},
          {"complete", header.complete},   {"incomplete_reason", header.complete ? "" : header.incomplete_reason},
          {"num_ranks", header.num_ranks}, {"message_size_bytes", header.message_sizes_bytes}};
}

void add_origin(Json& json, const result::RunHeader& header, const std::vector<HostRanks>& hosts) {
  Json provenance = Json::object(), options = Json::object(), names = Json::array();
  for (const auto& [name, value] : header.provenance) {
    std::visit([&, &key = name](const auto& alternative) { provenance[key] = alternative; }, value);
  }
  if (header.end_utc) provenance["end_utc"] = *header.end_utc;
  for (const auto& [name, value] : header.options) options[name] = value;
  for (const HostRanks& host : hosts) names.push_back({{"host", host.host}, {"ranks", host.ranks}});
  json["provenance"] = provenance;
  json["options"] = options;
  json["hosts"] = names;
}

}  // namespace leadline::output
