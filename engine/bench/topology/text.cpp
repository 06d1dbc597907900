// SPDX-License-Identifier: Apache-2.0
// Sorts cells by topology and size, and chooses the middle repeat of each.
#include "bench/topology/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/units.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

RepeatedCell brought_together(std::vector<const CellSummary*>& repeats) {
  RepeatedCell cell;
  cell.num_repeats = repeats.size();
  if (repeats.empty()) return cell;
  std::sort(repeats.begin(), repeats.end(),
            [](const auto* one, const auto* other) { return one->exchange.median < other->exchange.median; });
  cell.middle = repeats[repeats.size() / 2];
  cell.time_ns_least = repeats.front()->exchange.median;
  cell.time_ns_greatest = repeats.back()->exchange.median;
  return cell;
}

constexpr std::size_t most_topologies = 40;
constexpr int most_ranks_drawn = 16;
constexpr std::size_t most_topologies_in_full = 8;

std::string each_cell(const TopologyRequest& request) {
  if (request.duration_s > 0) {
    return fmt::format("Load for {}, topology after topology; every {}exchange is verified\n",
                       format_duration(request.duration_s),
                       request.verify_every > 1 ? fmt::format("{}th ", request.verify_every) : "");
  }
  std::string text = fmt::format("Each: {} after {} for warm-up", counted(request.num_iterations, "timed exchange"),
                                 request.num_warmup);
  if (request.num_traced > 0) text += fmt::format(", {} traced", request.num_traced);
  if (request.verify) text += fmt::format(", {} verified", request.num_iterations);
  return text + "\n";
}

std::string table_of_topologies(const bench::topology::Plan& plan) {
  Table table({{"topology", Align::left}, {"messages", Align::left}, {"channels"}, {"of the busiest rank"}});
  for (std::size_t i = 0; i < std::min(plan.topologies.size(), most_topologies); ++i) {
    const schedule::Topology& topology = plan.topologies[i];
    table.add_row({topology.spec().name, schedule::name_of(topology.spec().mode),
                   std::to_string(topology.num_channels()), std::to_string(topology.max_channels())});
  }
  std::string text = table.text();
  if (plan.topologies.size() > most_topologies) {
    text += fmt::format("  ... and {} more\n", plan.topologies.size() - most_topologies);
  }
  return text;
}

/// Every channel of a few ranks, the rank that starts first.
std::string channels_in_full(const bench::topology::Plan& plan) {
  if (plan.rank_layout.num_ranks > most_ranks_drawn || plan.topologies.size() > most_topologies_in_full) return "";
  std::string text = "Channels (the first of a pair starts):\n";
  for (const schedule::Topology& topology : plan.topologies) {
    text += fmt::format("  {}:", topology.spec().name);
    for (int rank = 0; rank < plan.rank_layout.num_ranks; ++rank) {
      for (const schedule::Channel& channel : topology.channels(rank)) {
        if (channel.starts) text += fmt::format(" {}-{}", rank, channel.partner);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace

double RepeatedCell::spread() const {
  if (middle == nullptr) return std::numeric_limits<double>::quiet_NaN();
  return (time_ns_greatest - time_ns_least) / middle->exchange.median;
}

double chosen(const Rates& rates, Rate rate) {
  switch (rate) {
    case Rate::local:
      return rates.local;
    case Rate::total:
      return rates.total;
    case Rate::average:
      break;
  }
  return rates.average;
}

TopologyCells::TopologyCells(const TopologyResult& result)
    : result_(result), num_sizes_(result.request.message_sizes_bytes.size()) {
  std::vector<std::vector<const CellSummary*>> repeats(num_topologies() * num_sizes_);
  for (const CellSummary& summary : result.cells) {
    if (std::isnan(summary.exchange.median)) continue;
    const auto topology = static_cast<std::size_t>(summary.cell.topology_index);
    repeats[topology * num_sizes_ + static_cast<std::size_t>(summary.cell.size_index)].push_back(&summary);
  }
  for (auto& each : repeats) cells_.push_back(brought_together(each));
}

double TopologyCells::rate_at(std::size_t topology_index, std::size_t size_index, Rate rate, double time_ns) const {
  const CellSummary* const middle = at(topology_index, size_index).middle;
  if (middle == nullptr) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t message_size_bytes = result_.request.message_sizes_bytes[size_index];
  return chosen(rates_of(result_.topologies[topology_index], middle->served, message_size_bytes, time_ns), rate);
}

double TopologyCells::rate(std::size_t topology_index, std::size_t size_index, Rate rate) const {
  const CellSummary* const middle = at(topology_index, size_index).middle;
  if (middle == nullptr) return std::numeric_limits<double>::quiet_NaN();
  return rate_at(topology_index, size_index, rate, middle->exchange.median);
}

std::size_t TopologyCells::largest_measured() const {
  for (std::size_t size = num_sizes_; size-- > 0;) {
    for (std::size_t topology = 0; topology < num_topologies(); ++topology) {
      if (at(topology, size).middle != nullptr) return size;
    }
  }
  return num_sizes_;
}

std::vector<std::size_t> TopologyCells::by_rate(std::size_t size_index, Rate rate) const {
  std::vector<std::size_t> order;
  for (std::size_t topology = 0; topology < num_topologies(); ++topology) {
    if (at(topology, size_index).middle != nullptr) order.push_back(topology);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return this->rate(one, size_index, rate) < this->rate(other, size_index, rate);
  });
  return order;
}

std::string topology_plan_text(const TopologyRequest& request, const bench::topology::Plan& plan) {
  const auto num_ranks = static_cast<std::uint64_t>(plan.rank_layout.num_ranks);
  std::string text =
      fmt::format("Topology test of {}: {} x {} x {}\n", counted(num_ranks, "rank"),
                  plan.topologies.size() == 1 ? "1 topology" : fmt::format("{} topologies", plan.topologies.size()),
                  counted(request.message_sizes_bytes.size(), "message size"),
                  counted(static_cast<std::uint64_t>(request.repeat), "repeat"));
  text += each_cell(request) + table_of_topologies(plan) + channels_in_full(plan);
  const bench::topology::Estimate& estimate = plan.estimate;
  text += estimate_head(estimate.assumption);
  text += fmt::format("  time      {}\n", format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} for message buffers of the busiest rank, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}\n", about_bytes(estimate.file_bytes));
  return text;
}

}  // namespace leadline::output
