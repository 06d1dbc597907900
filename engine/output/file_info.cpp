// SPDX-License-Identifier: Apache-2.0
// What a result file holds, as text and as JSON.
#include "output/file_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/json.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "network/stored_network.hpp"
#include "output/table.hpp"
#include "result/json_parts.hpp"

namespace leadline::output {
namespace {

std::string share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "" : fmt::format(" ({:.1f} %)", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string container_text(const result::ContainerFacts& facts) {
  const auto bytes = [](std::int64_t number) { return counted(static_cast<std::uint64_t>(number), "byte"); };
  const auto number = [](std::int64_t count, const char* noun) {
    return counted(static_cast<std::uint64_t>(count), noun);
  };
  const auto order = [](result::sion::ByteOrder byte_order) {
    return byte_order == result::sion::ByteOrder::little ? "little" : "big";
  };
  std::string layout = fmt::format("{} in {}", number(facts.num_tasks, "task"), number(facts.num_files_of_set, "file"));
  if (facts.is_part_of_set)
    layout = fmt::format("{}, one file of {} of a set", number(facts.num_tasks, "task"), facts.num_files_of_set);
  std::int64_t num_rounds = 0;
  for (const auto& file : facts.files) num_rounds = std::max(num_rounds, file.num_rounds);

  std::string text = line(
      "container", fmt::format("SION, format {}, as of SIONlib {}.{}.{}; {}-endian, contents {}-endian",
                               facts.format_version, facts.library_version / 1000, facts.library_version % 1000,
                               facts.library_patch_level, order(facts.metadata_order), order(facts.payload_order)));
  text += line("layout", fmt::format("{}, {}, block size {}", layout,
                                     facts.is_finished ? number(num_rounds, "round") : "rounds unknown",
                                     bytes(facts.block_size_bytes)));
  if (facts.has_key_value_records) text += line("contents", "key-value records");
  if (!facts.is_finished) {
    text += line("space", bytes(facts.size_bytes()));
    return text + line("finished", "no: its writer did not close it");
  }
  text += line("space", fmt::format("{}: {} used, {} unused{}{}", bytes(facts.size_bytes()), facts.used_bytes(),
                                    facts.unused_bytes(), share(facts.unused_bytes(), facts.size_bytes()),
                                    facts.is_dense() ? ", dense" : ""));
  return text + line("finished", "yes");
}

const char* name_of(result::sion::ByteOrder order) {
  return order == result::sion::ByteOrder::little ? "little" : "big";
}

Json container_json(const result::ContainerFacts& facts) {
  Json files = Json::array();
  for (const result::ContainerFileFacts& file : facts.files) {
    files.push_back({{"path", file.path},
                     {"num_tasks", file.num_tasks},
                     {"num_rounds", file.num_rounds},
                     {"size_bytes", file.size_bytes},
                     {"used_bytes", file.used_bytes},
                     {"metadata_bytes", file.metadata_bytes},
                     {"unused_bytes", file.unused_bytes()}});
  }
  return {{"format_version", facts.format_version},
          {"library_version", facts.library_version},
          {"library_patch_level", facts.library_patch_level},
          {"metadata_byte_order", name_of(facts.metadata_order)},
          {"payload_byte_order", name_of(facts.payload_order)},
          {"finished", facts.is_finished},
          {"dense", facts.is_dense()},
          {"key_value_records", facts.has_key_value_records},
          {"part_of_set", facts.is_part_of_set},
          {"num_tasks", facts.num_tasks},
          {"num_files", facts.num_files_of_set},
          {"block_size_bytes", facts.block_size_bytes},
          {"size_bytes", facts.size_bytes()},
          {"used_bytes", facts.used_bytes()},
          {"unused_bytes", facts.unused_bytes()},
          {"files", files}};
}

constexpr std::size_t most_hosts_shown = 16;

std::string hosts_text(const std::vector<HostRanks>& hosts) {
  std::string text;
  for (std::size_t index = 0; index < std::min(hosts.size(), most_hosts_shown); ++index) {
    text += fmt::format("{}{} ({})", index == 0 ? "" : ", ", harmless(hosts[index].host), hosts[index].ranks);
  }
  if (hosts.size() > most_hosts_shown) text += fmt::format(" and {} more", hosts.size() - most_hosts_shown);
  return text;
}

/// A damaged one is described as such; the rest of the file may be sound.
std::string network_text(const result::RunHeader& header) {
  if (header.network.empty()) return "";
  try {
    return network::words_of_stored(header.network);
  } catch (const JsonError& error) {
    return fmt::format("damaged: {}", harmless(error.what()));
  }
}

}  // namespace

std::string file_info_text(const FileInfo& info) {
  std::string text = line("file", harmless(info.path));
  if (info.container) text += container_text(*info.container);
  if (info.kind == result::FileKind::hdf5) text += line("container", "HDF5");
  if (info.result) return text + info.result->text;
  return text + line("result", "none: " + harmless(info.why_no_result));
}

std::string file_info_json(const FileInfo& info) {
  const Json json = {{"document", "info"},
                     {"format_version", 1},
                     {"path", info.path},
                     {"format", info.kind == result::FileKind::hdf5 ? "hdf5" : "sion"},
                     {"container", info.container ? container_json(*info.container) : Json(nullptr)},
                     {"result", info.result ? info.result->json : Json(nullptr)},
                     {"why_no_result", info.why_no_result}};
  return json.indented() + "\n";
}

std::vector<HostRanks> hosts_by_rank(std::int64_t num_ranks,
                                     const std::function<std::string(std::int64_t rank)>& host) {
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

std::string harmless(const std::string& text) { return printable(text, LineEnds::replaced); }

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
         line("hosts", hosts_text(hosts)) + line("network", network_text(header));
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
  json["network"] = header.network.empty() ? Json(nullptr) : Json(network_text(header));
}

}  // namespace leadline::output
