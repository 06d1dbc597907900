// SPDX-License-Identifier: Apache-2.0
// Builds the JSON document of a topology test, key by key.
#include "result/topology/json.hpp"

#include <utility>

#include "bench/topology/options.hpp"
#include "result/json_parts.hpp"

namespace leadline::result::topology {
namespace {

Json rates_json(const Rates& rates) {
  return {{"local_bytes_per_s", number(rates.local)},
          {"total_bytes_per_s", number(rates.total)},
          {"average_bytes_per_s", number(rates.average)}};
}

Json times_json(const ExchangeTimes& times, const TopologyFacts& topology, const CellSummary& summary) {
  const auto rates = [&](double time_ns) {
    return rates_json(rates_of(topology, summary.served, summary.cell.message_size_bytes, time_ns));
  };
  return {{"num", times.num},
          {"time_ns_min", number(times.min)},
          {"time_ns_median", number(times.median)},
          {"time_ns_mean", number(times.mean)},
          {"time_ns_p99", number(times.p99)},
          {"time_ns_max", number(times.max)},
          {"median_interval_ns", Json::array({number(times.median_low), number(times.median_high)})},
          {"at_median", rates(times.median)},
          {"at_mean", rates(times.mean)}};
}

Json rank_json(const RankRate& rate) {
  if (rate.rank < 0) return nullptr;
  return {{"rank", rate.rank}, {"bytes_per_s", number(rate.bytes_per_s)}};
}

Json channel_json(const ChannelTime& channel, std::uint64_t message_size_bytes) {
  if (channel.from < 0) return nullptr;
  return {{"from", channel.from},
          {"to", channel.to},
          {"time_ns", number(channel.time_ns)},
          {"bytes_per_s", number(1e9 * static_cast<double>(message_size_bytes) / channel.time_ns)}};
}

const TopologyFacts& topology_of(const TopologyResult& result, const Cell& cell) {
  return result.topologies.at(static_cast<std::size_t>(cell.topology_index));
}

/// How a cell and a point of load begin.
Json place_json(const TopologyFacts& topology, const Cell& cell) {
  return {{"topology_index", cell.topology_index},
          {"topology", topology.name},
          {"repeat", cell.repeat},
          {"size_index", cell.size_index},
          {"message_size_bytes", cell.message_size_bytes}};
}

void add_served(const ServedChannels& served, Json& json) {
  json["num_channels"] = served.num;
  json["max_channels_rank"] = served.max_rank;
}

Json cell_json(const TopologyResult& result, const CellSummary& summary) {
  const TopologyFacts& topology = topology_of(result, summary.cell);
  const std::uint64_t size = summary.cell.message_size_bytes;
  Json json = place_json(topology, summary.cell);
  add_served(summary.served, json);
  json["with_barrier"] = times_json(summary.with_barrier, topology, summary);
  json["exchange"] = times_json(summary.exchange, topology, summary);
  json["ranks"] = {{"slowest", rank_json(summary.slowest_rank)},
                   {"fastest", rank_json(summary.fastest_rank)},
                   {"median_bytes_per_s", number(summary.median_rank_bytes_per_s)}};
  json["slowest_channel"] = channel_json(summary.slowest_channel, size);
  json["fairness"] = number(summary.fairness);
  json["measuring_s"] = number(summary.measuring_s);
  return json;
}

Json load_json(const TopologyResult& result, const LoadPoint& point) {
  const TopologyFacts& topology = topology_of(result, point.cell);
  const Rates rates = rates_of(topology, point.served, point.cell.message_size_bytes, point.time_ns_mean());
  Json json = place_json(topology, point.cell);
  add_served(point.served, json);
  json["begin_s"] = number(point.begin_s);
  json["elapsed_s"] = number(point.elapsed_s);
  json["num_exchanges"] = point.num_exchanges;
  json["num_verified"] = point.num_verified;
  json["time_ns_median"] = number(point.time_ns_median);
  json["time_ns_max"] = number(point.time_ns_max);
  json["total_bytes_per_s"] = number(rates.total);
  return json;
}

Json topology_json(const TopologyFacts& topology) {
  Json json = {{"name", topology.name},
               {"shape", name_of(topology.shape)},
               {"mode", name_of(topology.mode)},
               {"num_channels", topology.num_channels},
               {"max_channels_rank", topology.max_channels_rank},
               {"num_ways", schedule::num_ways(topology.mode)}};
  if (!topology.extents.empty()) json["extents"] = topology.extents;
  return json;
}

}  // namespace

std::string json_text(const TopologyResult& result) {
  Json topologies = Json::array(), cells = Json::array(), load = Json::array();
  for (const TopologyFacts& topology : result.topologies) topologies.push_back(topology_json(topology));
  for (const CellSummary& summary : result.cells) cells.push_back(cell_json(result, summary));
  for (const LoadPoint& point : result.load) load.push_back(load_json(result, point));
  Json document = document_beginning("topology", result, result.request, bench::topology::options_of(result.request));
  document["verified_bytes"] = result.verified_bytes;
  document["hosts"] = hosts_json(result.hosts);
  document["findings"] = findings_json(result.findings);
  document["topologies"] = std::move(topologies);
  document["cells"] = std::move(cells);
  document["load"] = std::move(load);
  return text_of(document);
}

JsonStore::JsonStore(cluster::Cluster& cluster, TopologyResult so_far, const TopologyFileSetup& setup)
    : document_(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(std::size_t, const bench::topology::CellRow&, const CellSummary& summary) {
  document_.add([&](TopologyResult& so_far) { so_far.cells.push_back(summary); });
}

void JsonStore::write(std::size_t, const LoadPoint& point) {
  document_.add([&](TopologyResult& so_far) { so_far.load.push_back(point); });
}

}  // namespace leadline::result::topology
