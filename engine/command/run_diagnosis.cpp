// SPDX-License-Identifier: Apache-2.0
// Gathers sockets, and observations slice by slice; reads the topology on rank 0 alone, since other hosts may not see
// the file.
#include "command/run_diagnosis.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/run_collectively.hpp"
#include "diagnosis/rows.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"
#include "network/routes.hpp"

namespace leadline::command {
namespace {

/// A byte a rank: NUMA node plus one, 0 = unknown.
std::string sockets_of_all(cluster::Cluster& cluster, std::int32_t own_socket) {
  std::string own(static_cast<std::size_t>(cluster.size()), '\0');
  own[static_cast<std::size_t>(cluster.rank())] = static_cast<char>(std::clamp(own_socket, -1, 254) + 1);
  return cluster.all_reduce(std::move(own), [](std::string left, std::string_view right) {
    for (std::size_t rank = 0; rank < left.size(); ++rank) left[rank] = static_cast<char>(left[rank] | right[rank]);
    return left;
  });
}

/// Collective: empty on all other ranks.
std::vector<diagnosis::Observation> gathered_at_root(cluster::Cluster& cluster,
                                                     std::span<const diagnosis::Observation> own) {
  std::vector<diagnosis::Observation> all;
  cluster.gather(diagnosis::bytes_of(own), [&](int, std::string_view bytes) {
    const auto of_rank = diagnosis::entries_of<diagnosis::Observation>(bytes);
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  });
  cluster.progress_counter().advance();
  return all;
}

}  // namespace

diagnosis::Layout diagnosis_layout(cluster::Cluster& cluster, const RunEnvironment& run_environment,
                                   const std::string& topology, const std::string& routes) {
  diagnosis::Layout layout;
  layout.host_of.assign(run_environment.host_of().begin(), run_environment.host_of().end());
  for (auto& [host, name] : run_environment.host_names()) layout.host_names.push_back(name);
  const std::string sockets = sockets_of_all(cluster, run_environment.placement().numa_node);
  if (std::ranges::any_of(sockets, [](char socket) { return socket != 0; })) {
    for (const char socket : sockets) layout.socket_of.push_back(static_cast<std::uint8_t>(socket) - 1);
  }
  if (cluster.rank() == 0) layout.adapter_of.resize(static_cast<std::size_t>(cluster.size()));
  cluster.gather(run_environment.placement().adapter,
                 [&](int rank, std::string_view name) { layout.adapter_of[static_cast<std::size_t>(rank)] = name; });
  if (topology.empty()) return layout;
  network::Network network = run_collectively(cluster, [&] {
    return cluster.rank() == 0 ? network::parse_network(topology, layout.host_names) : network::Network{};
  });
  const std::string text = cluster.broadcast(cluster.rank() == 0 ? network::packed(network) : std::string());
  layout.network = cluster.rank() == 0 ? std::move(network) : network::unpacked(text);
  if (routes.empty()) return layout;
  network::Routes ways = run_collectively(cluster, [&] {
    return cluster.rank() == 0 ? network::read_routes(routes, topology, layout.host_names) : network::Routes{};
  });
  const std::string packed = cluster.broadcast(cluster.rank() == 0 ? network::packed(ways) : std::string());
  layout.routes = cluster.rank() == 0 ? std::move(ways) : network::unpacked_routes(packed);
  return layout;
}

diagnosis::PairsToMeasure pairs_to_measure(cluster::Cluster& cluster, std::span<const diagnosis::Observation> own,
                                           const diagnosis::Layout& layout, const DiagnosisSettings& settings,
                                           std::size_t most) {
  std::vector<diagnosis::Observation> all = gathered_at_root(cluster, own);
  diagnosis::PairsToMeasure chosen;
  if (cluster.is_root()) chosen = diagnosis::pairs_to_measure(std::move(all), layout, settings, most);
  for (auto* pairs : {&chosen.suspected, &chosen.by_chance}) {
    const std::string bytes = diagnosis::bytes_of(std::span<const diagnosis::OrderedPair>(*pairs));
    *pairs = diagnosis::entries_of<diagnosis::OrderedPair>(cluster.broadcast(bytes));
  }
  return chosen;
}

std::optional<DiagnosedSlice> diagnosed_at_root(cluster::Cluster& cluster, std::span<const diagnosis::Observation> own,
                                                const diagnosis::Layout& layout, const DiagnosisSettings& settings,
                                                const std::function<diagnosis::ObservedSlice()>& slice_at_root) {
  std::vector<diagnosis::Observation> all = gathered_at_root(cluster, own);
  if (!cluster.is_root() || all.empty()) return std::nullopt;
  diagnosis::ObservedSlice slice = slice_at_root();
  slice.observations = std::move(all);
  return diagnosis::diagnosed(slice, layout, settings);
}

}  // namespace leadline::command
