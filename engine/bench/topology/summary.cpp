// SPDX-License-Identifier: Apache-2.0
// Writes the summary of a topology test, part by part.

#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/topology/result.hpp"
#include "bench/topology/text.hpp"
#include "core/units.hpp"
#include "output/diagnosis_text.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::topology {
namespace {

constexpr std::size_t most_rows = 48;

struct LoadHistory {
  std::vector<double> rates;  // in the order of time
  std::uint64_t num_exchanges = 0, num_verified = 0;
};

using LoadHistories = std::map<std::pair<int, int>, LoadHistory>;  // by topology and size

LoadHistories load_histories(const TopologyResult& result) {
  LoadHistories histories;
  for (const LoadPoint& point : result.load) {
    const TopologyFacts& topology = result.topologies[static_cast<std::size_t>(point.cell.topology_index)];
    LoadHistory& history = histories[{point.cell.topology_index, point.cell.size_index}];
    history.rates.push_back(chosen(
        rates_of(topology, point.served, point.cell.message_size_bytes, point.time_ns_mean()), result.request.rate));
    history.num_exchanges += point.num_exchanges;
    history.num_verified += point.num_verified;
  }
  return histories;
}

/// Per topology and size the chosen rate at the beginning, at its least, in the middle and at the end, and how much was
/// verified. Empty where nothing was loaded.
std::string load_text(const TopologyResult& result) {
  const LoadHistories histories = load_histories(result);
  if (histories.empty()) return "";
  std::vector<double> all;
  for (const auto& [where, history] : histories) all.insert(all.end(), history.rates.begin(), history.rates.end());
  const Unit unit = bandwidth_unit(output::middle_of(all));

  output::Table table({{"topology", output::Align::left},
                       {"message size"},
                       {"begin"},
                       {"least"},
                       {"median"},
                       {"last"},
                       {"exchanges"},
                       {"verified"}});
  std::size_t num_rows = 0;
  for (const auto& [where, history] : histories) {
    if (num_rows++ == most_rows) break;
    std::vector<double> rates = history.rates;  // which stay in the order of time
    const stats::Summary over_slices = stats::summarize(rates);
    table.add_row({result.topologies[static_cast<std::size_t>(where.first)].name,
                   format_bytes(result.request.message_sizes_bytes[static_cast<std::size_t>(where.second)]),
                   output::in_unit(history.rates.front(), unit), output::in_unit(over_slices.min, unit),
                   output::in_unit(over_slices.median, unit), output::in_unit(history.rates.back(), unit),
                   std::to_string(history.num_exchanges), std::to_string(history.num_verified)});
  }
  const LoadPoint& last = result.load.back();
  std::string text =
      fmt::format("load for {}, in {}: {} rate in {}, bytes by elapsed time\n{}",
                  output::format_duration(last.begin_s + last.elapsed_s), output::counted(result.load.size(), "slice"),
                  name_of(result.request.rate), unit.name, table.text());
  if (histories.size() > most_rows) {
    text += fmt::format("  ... and {} more in the result file\n", histories.size() - most_rows);
  }
  return text;
}

constexpr std::size_t most_topologies_across = 8;
constexpr std::size_t most_topology_sizes_across = 6;
constexpr std::size_t most_topologies_down = 40;
constexpr std::size_t at_each_end = 4;  // of many topologies, in detail
constexpr std::size_t screen_width = 100;

std::string what_a_cell_is(const TopologyRequest& request) {
  std::string text =
      fmt::format("each topology and size: {}", output::counted(request.num_iterations, "timed exchange"));
  if (request.num_traced > 0) text += fmt::format(", {} traced", request.num_traced);
  if (request.repeat > 1) text += fmt::format("; {} repeats, of which the middle one is shown", request.repeat);
  return text + "\n";
}

std::size_t table_width(const std::string& table) { return table.find('\n'); }

Unit unit_of_table(const TopologyCells& cells, Rate rate) {
  std::vector<double> rates;
  for (std::size_t topology = 0; topology < cells.num_topologies(); ++topology) {
    for (std::size_t size = 0; size < cells.num_sizes(); ++size) rates.push_back(cells.rate(topology, size, rate));
  }
  return bandwidth_unit(output::middle_of(rates));
}

/// A row a size, a column a topology.
std::string topologies_across(const TopologyResult& result, const TopologyCells& cells, const Unit& unit) {
  std::vector<output::Column> columns{{"message size"}};
  for (const TopologyFacts& topology : result.topologies) columns.push_back({topology.name});
  output::Table table(std::move(columns));
  for (std::size_t size = 0; size < cells.num_sizes(); ++size) {
    std::vector<std::string> row{format_bytes(result.request.message_sizes_bytes[size])};
    for (std::size_t topology = 0; topology < cells.num_topologies(); ++topology) {
      row.push_back(output::in_unit(cells.rate(topology, size, result.request.rate), unit));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

/// Topologies in their order; of very many those at both ends.
std::vector<std::size_t> shown_topologies(const TopologyCells& cells, std::size_t size_index, Rate rate,
                                          std::size_t most, std::size_t each_end) {
  std::vector<std::size_t> order(cells.num_topologies());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() <= most || size_index == cells.num_sizes()) return order;
  order = cells.by_rate(size_index, rate);
  if (order.size() > 2 * each_end) {
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(each_end),
                order.end() - static_cast<std::ptrdiff_t>(each_end));
  }
  return order;
}

/// A row a topology, a column a size.
std::string topologies_down(const TopologyResult& result, const TopologyCells& cells, const Unit& unit) {
  const std::vector<std::size_t> sizes = output::evenly_chosen(cells.num_sizes(), most_topology_sizes_across);
  std::vector<output::Column> columns{{"topology", output::Align::left}};
  for (const std::size_t size : sizes) columns.push_back({format_bytes(result.request.message_sizes_bytes[size])});
  output::Table table(std::move(columns));
  const auto shown = shown_topologies(cells, cells.largest_measured(), result.request.rate, most_topologies_down,
                                      most_topologies_down / 2);
  for (const std::size_t topology : shown) {
    std::vector<std::string> row{result.topologies[topology].name};
    for (const std::size_t size : sizes)
      row.push_back(output::in_unit(cells.rate(topology, size, result.request.rate), unit));
    table.add_row(std::move(row));
  }
  std::string text = table.text();
  if (shown.size() < cells.num_topologies()) {
    text += fmt::format("  these are the lowest and the highest at the largest size, of {} topologies\n",
                        cells.num_topologies());
  }
  if (sizes.size() < cells.num_sizes()) {
    text += fmt::format("  {} of {} message sizes; the result file has all\n", sizes.size(), cells.num_sizes());
  }
  return text;
}

std::string greatest_spread(const TopologyResult& result, const TopologyCells& cells) {
  double greatest = -1;
  std::string where;
  for (std::size_t topology = 0; topology < cells.num_topologies(); ++topology) {
    for (std::size_t size = 0; size < cells.num_sizes(); ++size) {
      const RepeatedCell& cell = cells.at(topology, size);
      if (cell.num_repeats < 2 || !(cell.spread() > greatest)) continue;
      greatest = cell.spread();
      where = fmt::format("{}, {}", result.topologies[topology].name,
                          format_bytes(result.request.message_sizes_bytes[size]));
    }
  }
  if (greatest < 0) return "";
  return fmt::format("  repeats differ by {:.1f} % at most ({})\n", 100 * greatest, where);
}

std::string table_of_rates(const TopologyResult& result, const TopologyCells& cells) {
  const Unit unit = unit_of_table(cells, result.request.rate);
  std::string table;
  if (cells.num_topologies() <= most_topologies_across) table = topologies_across(result, cells, unit);
  if (table.empty() || table_width(table) > screen_width) table = topologies_down(result, cells, unit);
  return fmt::format("{} rate in {}, from the median time until the slowest rank is done\n{}{}",
                     name_of(result.request.rate), unit.name, table, greatest_spread(result, cells));
}

/// Of a time's interval the rate's: the longer time is the lower rate.
std::string rate_interval(const TopologyCells& cells, std::size_t topology, std::size_t size, Rate rate,
                          const Unit& unit) {
  const ExchangeTimes& times = cells.at(topology, size).middle->exchange;
  return fmt::format("{} to {}", output::in_unit(cells.rate_at(topology, size, rate, times.median_high), unit),
                     output::in_unit(cells.rate_at(topology, size, rate, times.median_low), unit));
}

/// "total 95 % interval local average": the chosen rate first, with its interval.
std::string rates_in_detail(const TopologyResult& result, const TopologyCells& cells, std::size_t size,
                            const std::vector<std::size_t>& shown) {
  const Rate first = result.request.rate;
  std::vector<Rate> others{Rate::total, Rate::local, Rate::average};
  std::erase(others, first);
  std::vector<double> rates;
  for (const std::size_t topology : shown) rates.push_back(cells.rate(topology, size, first));
  const Unit unit = bandwidth_unit(output::middle_of(rates));
  const bool has_repeats = result.request.repeat > 1;

  std::vector<output::Column> columns{{"topology", output::Align::left}, {name_of(first)}, {"95 % interval"}};
  for (const Rate rate : others) columns.push_back({name_of(rate)});
  columns.push_back({fmt::format("NETTEST {}", name_of(first))});
  if (has_repeats) columns.push_back({"spread"});
  output::Table table(std::move(columns));
  for (const std::size_t topology : shown) {
    const RepeatedCell& cell = cells.at(topology, size);
    if (cell.middle == nullptr) continue;
    std::vector<std::string> row{result.topologies[topology].name,
                                 output::in_unit(cells.rate(topology, size, first), unit),
                                 rate_interval(cells, topology, size, first, unit)};
    for (const Rate rate : others) row.push_back(output::in_unit(cells.rate(topology, size, rate), unit));
    row.push_back(output::in_unit(cells.rate_at(topology, size, first, cell.middle->with_barrier.mean), unit));
    if (has_repeats) row.push_back(fmt::format("{:.1f} %", 100 * cell.spread()));
    table.add_row(std::move(row));
  }
  std::string text = fmt::format("rates in {}\n{}", unit.name, table.text());
  text +=
      fmt::format("  NETTEST {}: as it counts, from the mean time with the closing barrier in it\n", name_of(first));
  if (has_repeats) text += "  spread: of the repeats' median times, greatest less least over the middle\n";
  return text;
}

std::string channel_text(const ChannelTime& channel) {
  return channel.from < 0 ? "-" : fmt::format("{} -> {}", channel.from, channel.to);
}

std::string ranks_in_detail(const TopologyResult& result, const TopologyCells& cells, std::size_t size,
                            const std::vector<std::size_t>& shown) {
  std::vector<double> rates, times;
  for (const std::size_t topology : shown) {
    const CellSummary* const middle = cells.at(topology, size).middle;
    if (middle == nullptr) continue;
    rates.insert(rates.end(), {middle->slowest_rank.bytes_per_s, middle->fastest_rank.bytes_per_s});
    times.push_back(middle->slowest_channel.time_ns);
  }
  const Unit rate_unit = bandwidth_unit(output::middle_of(rates)), unit_of_times = time_unit(output::middle_of(times));
  const output::HostsOfRanks hosts(result.hosts);
  const bool is_traced = result.request.num_traced > 0;

  std::vector<output::Column> columns{
      {"topology", output::Align::left}, {"slowest rank"}, {rate_unit.name}, {"fastest"}, {rate_unit.name}};
  if (is_traced) columns.insert(columns.end(), {{"slowest channel"}, {unit_of_times.name}, {"fairness"}});
  output::Table table(std::move(columns));
  for (const std::size_t topology : shown) {
    const CellSummary* const middle = cells.at(topology, size).middle;
    if (middle == nullptr) continue;
    const auto& [slowest, fastest, channel] =
        std::tie(middle->slowest_rank, middle->fastest_rank, middle->slowest_channel);
    std::vector<std::string> row{result.topologies[topology].name, hosts.with_host(slowest.rank),
                                 output::in_unit(slowest.bytes_per_s, rate_unit), hosts.with_host(fastest.rank),
                                 output::in_unit(fastest.bytes_per_s, rate_unit)};
    if (is_traced) {
      row.push_back(channel_text(channel));
      row.push_back(output::in_unit(channel.time_ns, unit_of_times));
      row.push_back(std::isfinite(middle->fairness) ? fmt::format("{:.3f}", middle->fairness) : "-");
    }
    table.add_row(std::move(row));
  }
  std::string text = table.text() + "  a rank's rate: what it sends and receives itself, in its own time\n";
  if (is_traced) {
    text += "  fairness: over the rates of all channels and directions; 1 = all alike, 1/n = one of n has everything\n";
  }
  return text;
}

std::string details(const TopologyResult& result, const TopologyCells& cells) {
  const std::size_t size = cells.largest_measured();
  if (size == cells.num_sizes()) return "";
  const auto shown = shown_topologies(cells, size, result.request.rate, most_topologies_across, at_each_end);
  std::string text = fmt::format("messages of {}, ", format_bytes(result.request.message_sizes_bytes[size]));
  if (shown.size() < cells.num_topologies()) {
    text += fmt::format("the {} lowest and the {} highest of {} topologies, ", at_each_end, at_each_end,
                        cells.num_topologies());
  }
  return text + rates_in_detail(result, cells, size, shown) + "\n" + ranks_in_detail(result, cells, size, shown);
}

std::string measured_in(const TopologyResult& result) {
  double measuring_s = 0;
  for (const CellSummary& summary : result.cells) measuring_s += summary.measuring_s;
  return result.cells.empty() ? "" : fmt::format("measured in {}\n", output::format_duration(measuring_s));
}

}  // namespace

std::string topology_summary(const TopologyResult& result, const std::string& path) {
  std::string text = output::run_head(result);
  const auto add_part = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  if (result.request.duration_s > 0) {
    text += output::simulated_line(result);
    add_part(load_text(result));
  } else {
    text += what_a_cell_is(result.request) + output::simulated_line(result);
    const TopologyCells cells(result);
    if (!result.cells.empty()) add_part(table_of_rates(result, cells));
    add_part(details(result, cells));
  }
  add_part(output::diagnoses_text(result.diagnoses));
  add_part(output::findings_text(result.findings));
  add_part(measured_in(result) + output::run_tail(result, result.request.format, path));
  return text;
}

}  // namespace leadline::bench::topology
