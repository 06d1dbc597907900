// SPDX-License-Identifier: Apache-2.0
// The topology test's plan: which topologies, which cells, how many buffers.
#include "bench/topology/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "bench/topology/estimate.hpp"
#include "core/error.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::bench::topology {
namespace {

using schedule::Shape;
using schedule::Topology;
using schedule::TopologySpec;

constexpr const char* pattern_option = "--pattern";

/// The same for two topologies that are the same under different names.
std::string identity_of(const TopologySpec& spec) {
  std::string identity = fmt::format("{} {}", name_of(spec.shape), name_of(spec.mode));
  if (spec.shape == Shape::star) identity += fmt::format(" {}", spec.centre);
  if (spec.shape == Shape::torus) identity += fmt::format(" {}", fmt::join(spec.extents, "x"));
  if (spec.shape == Shape::incast || spec.shape == Shape::outcast) identity += fmt::format(" {}", spec.num_hot);
  return identity;
}

void check_different(const std::vector<Topology>& topologies) {
  const auto refuse = [](const std::string& name, const std::string& why) {
    throw Error(ExitStatus::bad_command_line, fmt::format("the pattern {} is asked for twice", name), why,
                "Give each pattern once; to measure again, repeat the whole test");
  };
  std::map<std::string, std::string> name_of_identity;
  std::map<std::string, std::string> identity_of_name;
  for (const Topology& topology : topologies) {
    const std::string& name = topology.spec().name;
    const std::string identity = identity_of(topology.spec());
    const auto [same_name, is_new_name] = identity_of_name.try_emplace(name, identity);
    if (!is_new_name) refuse(name, same_name->second == identity ? "" : "--edges has a file of that name");
    const auto [same, is_new] = name_of_identity.try_emplace(identity, name);
    if (!is_new) refuse(name, fmt::format("it is the same as {}", same->second));
  }
}

std::vector<Topology> topologies_of(const TopologyRequest& request, int num_ranks, const std::string& edges) {
  std::vector<Topology> topologies;
  for (const std::string& word : request.patterns) {
    for (TopologySpec& spec : schedule::parse_topology(pattern_option, word, request.mode, num_ranks)) {
      topologies.emplace_back(std::move(spec), num_ranks);
    }
  }
  if (!request.edges_file.empty()) {
    TopologySpec spec{std::filesystem::path(request.edges_file).filename().string(), Shape::edges, request.mode};
    spec.edges = schedule::parse_edges(request.edges_file, edges, num_ranks);
    topologies.emplace_back(std::move(spec), num_ranks);
  }
  if (topologies.empty()) throw Error(ExitStatus::bad_command_line, "no pattern is asked for");
  check_different(topologies);
  return topologies;
}

std::vector<Cell> cells_of(const TopologyRequest& request, std::size_t num_topologies) {
  std::vector<Cell> cells;
  for (int repeat = 0; repeat < request.repeat; ++repeat) {
    for (std::size_t size_index = 0; size_index < request.message_sizes_bytes.size(); ++size_index) {
      for (std::size_t topology_index = 0; topology_index < num_topologies; ++topology_index) {
        cells.push_back({static_cast<int>(topology_index), static_cast<int>(size_index), repeat,
                         request.message_sizes_bytes[size_index]});
      }
    }
  }
  return cells;
}

}  // namespace

Plan plan(const TopologyRequest& request, const RankLayout& rank_layout, const std::string& edges) {
  Plan plan;
  plan.rank_layout = rank_layout;
  plan.topologies = topologies_of(request, rank_layout.num_ranks, edges);
  plan.cells = cells_of(request, plan.topologies.size());
  plan.estimate = estimate_of(request, plan);
  return plan;
}

std::vector<TopologyFacts> facts_of(const Plan& plan) {
  std::vector<TopologyFacts> facts;
  for (const Topology& topology : plan.topologies) {
    const TopologySpec& spec = topology.spec();
    facts.push_back({spec.name, spec.shape, spec.mode, topology.num_channels(), topology.max_channels(), {}});
    if (spec.shape == Shape::torus) facts.back().extents = spec.extents;
  }
  return facts;
}

std::uint32_t num_slots(const TopologyRequest& request, const Plan& plan, int rank) {
  std::int32_t most = 0;
  for (const Topology& topology : plan.topologies) most = std::max(most, topology.num_channels(rank));
  return num_slots_for(request, most);
}

void check_memory(const Plan& plan, std::uint64_t available_bytes) {
  check_available({plan.rank_layout.max_ranks_per_host, plan.estimate.host_bytes}, available_bytes,
                  "Choose --max-outstanding or --shared-buffers (neither saves any where bytes are checked), a smaller "
                  "--message-size, or fewer ranks on a host");
}

}  // namespace leadline::bench::topology
