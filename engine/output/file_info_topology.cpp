// SPDX-License-Identifier: Apache-2.0
// The description of a topology test's result, as text and as JSON.
#include "output/file_info_topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"
#include "result/json_parts.hpp"

namespace leadline::output {

namespace {

using result::topology::BestRates;
using result::topology::KeptTopology;

constexpr std::size_t most_topologies_shown = 64;

std::string measured_text(const TopologyInfo& info) {
  const result::topology::Header& header = info.header;
  if (header.has_load) {
    const std::string duration_s = harmless(result::option_text(header, "duration"));
    return line("load", fmt::format("for {} s, {}", duration_s, counted(info.num_load_points, "point")));
  }
  return line("cells",
              fmt::format("{} of {} of {} exchanges", counted(static_cast<std::uint64_t>(header.num_repeats), "repeat"),
                          counted(header.message_sizes_bytes.size(), "message size"), header.num_iterations));
}

std::string topologies_text(const TopologyInfo& info) {
  const std::vector<KeptTopology>& topologies = info.header.topologies;
  Table table({{"topology", Align::left},
               {"mode", Align::left},
               {"channels"},
               {"best total"},
               {"local"},
               {"average"},
               {"at size"}});
  for (std::size_t index = 0; index < std::min(topologies.size(), most_topologies_shown); ++index) {
    const KeptTopology& topology = topologies[index];
    const std::optional<BestRates>& best = info.best[index];
    const auto rate = [&](double Rates::*which) { return best ? format_bandwidth(best->rates.*which) : "-"; };
    table.add_row({harmless(topology.name), harmless(topology.mode), std::to_string(topology.num_channels),
                   rate(&Rates::total), rate(&Rates::local), rate(&Rates::average),
                   best ? format_bytes(best->message_size_bytes) : "-"});
  }
  std::string text = "\n" + table.text();
  const std::size_t num_left_out = topologies.size() - std::min(topologies.size(), most_topologies_shown);
  if (num_left_out > 0) text += fmt::format("  and {} more\n", num_left_out);
  if (!info.has_summary) text += "  No rates: the run ended before its summary was written.\n";
  return text;
}

Json best_json(const std::optional<BestRates>& best) {
  if (!best) return nullptr;
  return {{"message_size_bytes", best->message_size_bytes},
          {"repeat", best->repeat},
          {"local_bytes_per_s", number(best->rates.local)},
          {"total_bytes_per_s", number(best->rates.total)},
          {"average_bytes_per_s", number(best->rates.average)}};
}

}  // namespace

TopologyInfo topology_info(const result::topology::Hdf5Reader& reader) {
  TopologyInfo info;
  info.header = reader.header();
  info.has_summary = info.header.summary.has_value();
  info.best = best_rates(info.header, reader.path());
  info.header.summary.reset();
  info.hosts = hosts_of(info.header.num_ranks, [&](std::int64_t rank) { return reader.placement(rank).host; });
  info.num_load_points = reader.num_load_points();
  return info;
}

std::string topology_info_text(const TopologyInfo& info) {
  std::string text = line("result", fmt::format("topology test, format {}", info.header.format_version));
  text += run_text(info.header) + ranks_text(info.header, info.hosts);
  text += sizes_text(info.header);
  return text + measured_text(info) + topologies_text(info);
}

Json topology_info_json(const TopologyInfo& info) {
  const result::topology::Header& header = info.header;
  Json topologies = Json::array();
  for (std::size_t index = 0; index < header.topologies.size(); ++index) {
    const KeptTopology& topology = header.topologies[index];
    topologies.push_back({{"name", topology.name},
                          {"shape", topology.shape},
                          {"mode", topology.mode},
                          {"num_channels", topology.num_channels},
                          {"max_channels_rank", topology.max_channels_rank},
                          {"num_ways", topology.num_ways},
                          {"extents", topology.extents.empty() ? Json(nullptr) : Json(topology.extents)},
                          {"best", best_json(info.best[index])}});
  }
  Json json = run_json("topology", header);
  json["num_repeats"] = header.has_load ? Json(nullptr) : Json(header.num_repeats);
  json["num_iterations"] = header.has_load ? Json(nullptr) : Json(header.num_iterations);
  json["num_load_points"] = header.has_load ? Json(info.num_load_points) : Json(nullptr);
  add_origin(json, header, info.hosts);
  json["topologies"] = std::move(topologies);
  return json;
}

}  // namespace leadline::output
