// SPDX-License-Identifier: Apache-2.0
// Sums over ranks, channels, exchanges and cells.
#include "bench/topology/estimate.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "bench/message_memory.hpp"
#include "kernel/neighbour_exchange.hpp"

namespace leadline::bench::topology {
namespace {

using schedule::ChannelMode;
using schedule::Topology;

constexpr double bytes_per_rank = sizeof(std::uint32_t) + sizeof(RankRate);  // host index; rank 0's gathered rates
constexpr double bytes_per_entry = sizeof(kernel::NeighbourChannel) + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr double bytes_per_exchange = sizeof(kernel::ExchangeSample) + 3 * sizeof(double);  // own, slowest, barrier
constexpr double bytes_per_cell = sizeof(Cell) + sizeof(CellSummary);
constexpr double bytes_per_topology = sizeof(Topology) + sizeof(TopologyFacts);

// Of the file, as docs/formats/hdf5.md lists them.
constexpr double file_bytes_per_row_start = sizeof(std::int64_t);
constexpr double file_bytes_per_end = sizeof(std::int32_t) + sizeof(std::uint8_t);  // partner, starts
constexpr double file_bytes_per_rank_time = 5 * sizeof(double);
constexpr double file_bytes_per_exchange = 2 * sizeof(double);
constexpr double file_bytes_per_load_point = 3 * sizeof(std::int32_t) + 4 * sizeof(double) + 2 * sizeof(std::uint64_t);

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

double file_bytes(const TopologyRequest& request, const Plan& plan) {
  const double ranks = plan.rank_layout.num_ranks;
  const bool is_load = request.duration_s > 0;
  const double num_each = is_load ? 0 : static_cast<double>(request.message_sizes_bytes.size()) * request.repeat;
  double bytes = is_load ? file_bytes_per_load_point * static_cast<double>(max_load_points) : 0;
  for (const Topology& topology : plan.topologies) {
    const double ends = 2 * static_cast<double>(topology.num_channels());
    bytes += file_bytes_per_row_start * (ranks + 1) + file_bytes_per_end * ends;
    bytes += num_each * (sizeof(double) * ends + file_bytes_per_rank_time * ranks +
                         file_bytes_per_exchange * static_cast<double>(request.num_iterations));
  }
  return bytes;
}

/// A barrier is as many messages one behind the other as the number of ranks has digits in base two.
double exchange_s(const CostAssumption& assumption, const Topology& topology, std::uint64_t size_bytes) {
  const ChannelMode mode = topology.spec().mode;
  const double turns = mode == ChannelMode::answered || mode == ChannelMode::phased ? 2 : 1;
  const auto barrier_steps = std::bit_width(static_cast<unsigned>(topology.num_ranks() - 1));
  return turns * topology.max_channels() * message_s(assumption, size_bytes) +
         2 * barrier_steps * message_s(assumption, 0);
}

double measuring_s(const TopologyRequest& request, const Plan& plan, const CostAssumption& assumption) {
  if (request.duration_s > 0) return request.duration_s;
  const double num_exchanges = static_cast<double>(request.num_warmup) + static_cast<double>(request.num_traced) +
                               static_cast<double>(request.num_iterations) * (request.verify ? 2 : 1);
  double seconds = 0;
  for (const Topology& topology : plan.topologies) {
    for (const std::uint64_t size : request.message_sizes_bytes) {
      seconds += num_exchanges * request.repeat * exchange_s(assumption, topology, size);
    }
  }
  return seconds;
}

}  // namespace

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
