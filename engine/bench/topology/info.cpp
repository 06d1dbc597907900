// SPDX-License-Identifier: Apache-2.0
// The description of a topology test's result, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/topology/text.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"

namespace leadline::output {

namespace {

using result::topology::BestRates;
using result::topology::KeptTopology;

constexpr std::size_t most_topologies_shown = 64;

std::string measured_text(const result::topology::Header& header, std::size_t num_load_points) {
  if (header.has_load) {
    const std::string duration_s = harmless(result::option_text(header, "duration"));
    return line("load", fmt::format("for {} s, {}", duration_s, counted(num_load_points, "point")));
  }
  return line("cells",
              fmt::format("{} of {} of {} exchanges", counted(static_cast<std::uint64_t>(header.num_repeats), "repeat"),
                          counted(header.message_sizes_bytes.size(), "message size"), header.num_iterations));
}

std::string topologies_text(const result::topology::Header& header,
                            const std::vector<std::optional<BestRates>>& rates) {
  const std::vector<KeptTopology>& topologies = header.topologies;
  Table table({{"topology", Align::left},
               {"mode", Align::left},
               {"channels"},
               {"best total"},
               {"local"},
               {"average"},
               {"at size"}});
  for (std::size_t index = 0; index < std::min(topologies.size(), most_topologies_shown); ++index) {
    const KeptTopology& topology = topologies[index];
    const std::optional<BestRates>& best = rates[index];
    const auto rate = [&](double Rates::*which) { return best ? format_bandwidth(best->rates.*which) : "-"; };
    table.add_row({harmless(topology.name), harmless(topology.mode), std::to_string(topology.num_channels),
                   rate(&Rates::total), rate(&Rates::local), rate(&Rates::average),
                   best ? format_bytes(best->message_size_bytes) : "-"});
  }
  std::string text = "\n" + table.text();
  const std::size_t num_left_out = topologies.size() - std::min(topologies.size(), most_topologies_shown);
  if (num_left_out > 0) text += fmt::format("  and {} more\n", num_left_out);
  if (!header.summary) text += "  No rates: the run ended before its summary was written.\n";
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

ResultInfo info_of(const result::topology::Hdf5Reader& reader) {
  const result::topology::Header& header = reader.header();
  const std::vector<HostRanks> hosts = hosts_of(reader);
  const std::vector<std::optional<BestRates>> best = result::topology::best_rates(header, reader.path());
  const std::size_t num_load_points = reader.num_load_points();
  std::string text = line("result", fmt::format("topology test, format {}", header.format_version));
  text += run_text(header) + ranks_text(header, hosts) + sizes_text(header);
  text += measured_text(header, num_load_points) + topologies_text(header, best);

  Json json = run_json("topology", header);
  json["num_repeats"] = header.has_load ? Json(nullptr) : Json(header.num_repeats);
  json["num_iterations"] = header.has_load ? Json(nullptr) : Json(header.num_iterations);
  json["num_load_points"] = header.has_load ? Json(num_load_points) : Json(nullptr);
  add_origin(json, header, hosts);
  json["topologies"] = Json::array();
  for (std::size_t index = 0; index < best.size(); ++index) {
    Json topology = result::json_of(header.topologies[index]);
    if (header.topologies[index].extents.empty()) topology["extents"] = nullptr;
    topology["best"] = best_json(best[index]);
    json["topologies"].push_back(std::move(topology));
  }
  return {text, json};
}

}  // namespace leadline::output
