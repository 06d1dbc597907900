// SPDX-License-Identifier: Apache-2.0
// Makes topologies and cells, and estimates memory and time.
#include "bench/topology/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/message_memory.hpp"
#include "bench/topology/fields.hpp"
#include "bench/topology/observed.hpp"
#include "core/error.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "result/hdf5/run_file.hpp"
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

using schedule::ChannelMode;
using schedule::Topology;

constexpr double bytes_per_rank = sizeof(std::uint32_t) + sizeof(RankRate);  // host index; the root's gathered rates
constexpr double bytes_per_entry = sizeof(kernel::NeighbourChannel) + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr double bytes_per_exchange = sizeof(kernel::ExchangeSample) + 3 * sizeof(double);  // own, slowest, barrier
constexpr double bytes_per_cell = sizeof(Cell) + sizeof(CellSummary);
constexpr double bytes_per_topology = sizeof(Topology) + sizeof(TopologyFacts);

// Of the file, as docs/formats/hdf5.md lists them.
constexpr double file_bytes_per_row_start = sizeof(std::int64_t);
constexpr double file_bytes_per_end = sizeof(std::int32_t) + sizeof(std::uint8_t);  // partner, starts
constexpr double file_bytes_per_rank_time = 5 * sizeof(double);
constexpr double file_bytes_per_exchange = 2 * sizeof(double);
constexpr double file_bytes_per_load_point = bytes_of_fields<LoadPoint>;

// Beside the tables, with the summary, as HDF5 1.10.8 writes it (measured).
constexpr double file_bytes_beside = 28.5e3, file_bytes_per_topology = 7.4e3, file_bytes_per_cell = 2040;
constexpr double file_bytes_per_pair_alone = 150;
constexpr double file_bytes_beside_load = 34e3, file_bytes_per_topology_of_load = 4.4e3;

bool verifies(const TopologyRequest& request) { return request.verify || request.duration_s > 0; }

/// Of every rank, its busiest topology's.
std::vector<std::int32_t> most_channels_by_rank(const Plan& plan) {
  std::vector<std::int32_t> most(static_cast<std::size_t>(plan.rank_layout.num_ranks));
  for (const Topology& topology : plan.topologies) {
    const std::vector<std::int32_t> nums = topology.num_channels_by_rank();
    std::ranges::transform(most, nums, most.begin(), [](std::int32_t a, std::int32_t b) { return std::max(a, b); });
  }
  return most;
}

double buffer_bytes(const TopologyRequest& request, std::int32_t num_channels) {
  const std::uint32_t num = num_slots_for(request, num_channels);
  return 2.0 * num * static_cast<double>(stride_of(num, largest_message_bytes(request)));
}

double table_bytes(const TopologyRequest& request, const Plan& plan, std::int32_t num_channels) {
  const bool is_load = request.duration_s > 0;
  const double traced = is_load ? 0 : static_cast<double>(request.num_traced);
  const double exchanges = is_load ? 0 : static_cast<double>(request.num_iterations);
  double bytes = bytes_per_rank * plan.rank_layout.num_ranks + bytes_per_exchange * exchanges +
                 bytes_per_cell * static_cast<double>(plan.cells.size()) +
                 bytes_per_topology * static_cast<double>(plan.topologies.size());
  if (is_load) bytes += static_cast<double>(max_load_points * sizeof(LoadPoint));
  for (const Topology& topology : plan.topologies) {
    bytes += static_cast<double>(topology.spec().edges.size() * sizeof(schedule::Edge));
  }
  // Both ways of a phased channel are entries of their own, and verifying has a list of its own.
  const double bytes_per_channel = sizeof(schedule::Channel) + 4 * bytes_per_entry + traced * sizeof(double);
  return bytes + bytes_per_channel * num_channels;
}

/// For each size. Suspected pairs, and as many by chance, if there are so many.
double num_pairs_alone(const TopologyRequest& request, const Topology& topology) {
  if (!why_untested(request, topology.spec()).empty()) return 0;
  return 2 * std::min<double>(request.retest, static_cast<double>(topology.num_channels()));
}

double file_bytes(const TopologyRequest& request, const Plan& plan) {
  const double ranks = plan.rank_layout.num_ranks;
  const bool is_load = request.duration_s > 0;
  const double num_each = is_load ? 0 : static_cast<double>(request.message_sizes_bytes.size()) * request.repeat;
  double bytes = result::hdf5::bytes_of_places(ranks);
  bytes += is_load ? file_bytes_beside_load + file_bytes_per_load_point * max_load_points : file_bytes_beside;
  for (const Topology& topology : plan.topologies) {
    const double ends = 2 * static_cast<double>(topology.num_channels());
    bytes += file_bytes_per_row_start * (ranks + 1) + file_bytes_per_end * ends;
    bytes += is_load ? file_bytes_per_topology_of_load : file_bytes_per_topology;
    bytes += num_each * (sizeof(double) * ends + file_bytes_per_rank_time * ranks + file_bytes_per_cell +
                         file_bytes_per_exchange * static_cast<double>(request.num_iterations));
    if (is_load) continue;
    bytes += file_bytes_per_pair_alone * num_pairs_alone(request, topology) *
             static_cast<double>(request.message_sizes_bytes.size());
  }
  return bytes;
}

/// Before and after an exchange. A barrier is as many messages one behind the other as the number of ranks has digits
/// in base two.
double barriers_s(const CostAssumption& assumption, int num_ranks) {
  return 2 * std::bit_width(static_cast<unsigned>(num_ranks - 1)) * message_s(assumption, 0);
}

double exchange_s(const CostAssumption& assumption, const Topology& topology, std::uint64_t size_bytes) {
  const ChannelMode mode = topology.spec().mode;
  const double turns = mode == ChannelMode::answered || mode == ChannelMode::phased ? 2 : 1;
  return turns * topology.max_channels() * message_s(assumption, size_bytes) +
         barriers_s(assumption, topology.num_ranks());
}

double alone_s(const TopologyRequest& request, const CostAssumption& assumption, const Topology& topology,
               std::uint64_t size_bytes) {
  const double num_round_trips = 2.0 * attempts_alone * static_cast<double>(traced_alone(request));
  return num_pairs_alone(request, topology) * num_round_trips *
         (2 * message_s(assumption, size_bytes) + barriers_s(assumption, topology.num_ranks()));
}

double measuring_s(const TopologyRequest& request, const Plan& plan, const CostAssumption& assumption) {
  if (request.duration_s > 0) return request.duration_s;
  const double num_exchanges = static_cast<double>(request.num_warmup) + static_cast<double>(request.num_traced) +
                               static_cast<double>(request.num_iterations) * (request.verify ? 2 : 1);
  double seconds = 0;
  for (const Topology& topology : plan.topologies) {
    for (const std::uint64_t size : request.message_sizes_bytes) {
      seconds += num_exchanges * request.repeat * exchange_s(assumption, topology, size);
      seconds += alone_s(request, assumption, topology, size);
    }
  }
  return seconds;
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

std::uint32_t num_slots_for(const TopologyRequest& request, std::int32_t num_channels) {
  const auto all = static_cast<std::uint32_t>(num_channels);
  if (verifies(request)) return all;
  if (request.shared_buffers) return std::min(all, 1u);
  return request.max_outstanding > 0 ? std::min(all, request.max_outstanding) : all;
}

Estimate estimate_of(const TopologyRequest& request, const Plan& plan) {
  std::vector<std::int32_t> most = most_channels_by_rank(plan);
  // The ranks of a host need not be those that need most, but who is on which host is not for a plan to know: memory
  // is shared on real hosts, and RankLayout::host_of may be of a simulated fabric.
  std::ranges::sort(most, std::greater<>{});
  const auto num_on_host = std::min<std::ptrdiff_t>(plan.rank_layout.max_ranks_per_host, std::ssize(most));

  Estimate estimate;
  estimate.buffer_bytes = whole_bytes(buffer_bytes(request, most.front()));
  estimate.table_bytes = whole_bytes(table_bytes(request, plan, most.front()));
  estimate.host_bytes = std::transform_reduce(
      most.begin(), most.begin() + num_on_host, 0.0, std::plus<>{}, [&](std::int32_t num_channels) {
        return buffer_bytes(request, num_channels) + table_bytes(request, plan, num_channels);
      });
  estimate.file_bytes = whole_bytes(file_bytes(request, plan));
  estimate.measuring_s = measuring_s(request, plan, estimate.assumption);
  return estimate;
}

}  // namespace leadline::bench::topology
