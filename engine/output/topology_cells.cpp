// SPDX-License-Identifier: Apache-2.0
// Sorts cells by topology and size, and chooses the middle repeat of each.
#include "output/topology_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
  return chosen(rates_of(result_.topologies[topology_index], result_.request.message_sizes_bytes[size_index], time_ns),
                rate);
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

}  // namespace leadline::output
