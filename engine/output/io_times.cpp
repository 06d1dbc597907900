// SPDX-License-Identifier: Apache-2.0
// Writes times of ranks, latencies and throughput over time.
#include "output/io_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "output/host_of_rank.hpp"
#include "output/io_rates.hpp"
#include "output/io_request_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t widest_line = 40;
constexpr std::string_view heights = " .:-=+*#";  // ASCII: tables end up in job logs of any encoding

std::vector<const PhaseSummary*> shown_phases(const IoResult& result) {
  std::vector<const PhaseSummary*> phases;
  for (const IoOperation operation : {IoOperation::write, IoOperation::read}) {
    if (const PhaseSummary* const phase = phase_for(result, operation)) phases.push_back(phase);
  }
  return phases;
}

bool is_outside(const IoRequest& request, IoTime time) {
  return time == IoTime::fill || time == IoTime::verify ||
         (time == IoTime::sync && request.sync == SyncTiming::outside);
}

std::string which_repeat(const IoResult& result, const PhaseSummary& phase) {
  return result.request.repeat > 1 ? fmt::format(" of repeat {}, which is nearest to the median", phase.place.repeat)
                                   : "";
}

void add_times(Table& table, const IoResult& result, const PhaseSummary& phase, const Unit& unit) {
  const HostsOfRanks hosts(result.hosts);
  const auto add = [&](const std::string& name, const RankSpread& spread, const char* remark) {
    table.add_row({name, in_unit(spread.min, unit), hosts.with_host(spread.min_rank), in_unit(spread.mean, unit),
                   in_unit(spread.max, unit), hosts.with_host(spread.max_rank), std::to_string(spread.num), remark});
  };
  add("I/O time", phase.io, "");
  for (const bool outside : {false, true}) {
    for (std::size_t index = 0; index < num_io_times; ++index) {
      const auto time = static_cast<IoTime>(index);
      const RankSpread& spread = phase.times[index];
      if (is_outside(result.request, time) != outside || !(spread.max > 0)) continue;
      add(fmt::format("  {}", name_of(time)), spread, outside ? "not in the I/O time" : "");
    }
  }
}

/// Bytes of neighbouring bins together, as many as fit into a line; bins behind the last byte are left out.
struct Folded {
  std::vector<std::uint64_t> bytes;
  double bin_ns = 0;
};

Folded folded(const ByteSeries& series) {
  std::size_t num = series.bytes.size();
  while (num > 0 && series.bytes[num - 1] == 0) --num;
  const std::size_t run_collectively = std::max<std::size_t>(1, (num + widest_line - 1) / widest_line);
  Folded result{std::vector<std::uint64_t>((num + run_collectively - 1) / run_collectively), 0};
  for (std::size_t index = 0; index < num; ++index) result.bytes[index / run_collectively] += series.bytes[index];
  result.bin_ns = static_cast<double>(run_collectively) * static_cast<double>(series.bin_ns);
  return result;
}

char height_of(std::uint64_t bytes, std::uint64_t most) {
  const double share = static_cast<double>(bytes) / static_cast<double>(most);
  return heights[static_cast<std::size_t>(std::ceil(share * static_cast<double>(heights.size() - 1)))];
}

}  // namespace

std::string io_times_text(const IoResult& result) {
  std::string text;
  for (const PhaseSummary* const phase : shown_phases(result)) {
    if (phase->io.num == 0) continue;
    const Unit unit = time_unit(phase->io.mean);
    Table table({{"time", Align::left},
                 {"least"},
                 {"rank", Align::left},
                 {"mean"},
                 {"most"},
                 {"rank", Align::left},
                 {"ranks"},
                 {"", Align::left}});
    add_times(table, result, *phase, unit);
    text += fmt::format("{}times of ranks in {} ({}{})\n{}", text.empty() ? "" : "\n", unit.name,
                        name_of(phase->place.operation), which_repeat(result, *phase), table.text());
  }
  return text;
}

std::string io_latencies_text(const IoResult& result) {
  std::vector<const PhaseSummary*> phases = shown_phases(result);
  std::erase_if(phases, [](const PhaseSummary* phase) { return phase->num_calls == 0; });
  if (phases.empty()) return "";
  std::vector<double> medians;
  for (const PhaseSummary* const phase : phases) medians.push_back(phase->call_ns_p50);
  const Unit unit = time_unit(middle_of(medians));
  const bool are_continued =
      std::any_of(phases.begin(), phases.end(), [](const auto* phase) { return phase->num_continued > 0; });
  std::vector<Column> columns{
      {"calls", Align::left}, {"number"}, {"least"}, {"50 %"}, {"90 %"}, {"99 %"}, {"99.9 %"}, {"most"}};
  if (are_continued) columns.push_back({"continued"});
  Table table(std::move(columns));
  for (const PhaseSummary* const phase : phases) {
    std::vector<std::string> row{name_of(phase->place.operation),    std::to_string(phase->num_calls),
                                 in_unit(phase->call_ns_min, unit),  in_unit(phase->call_ns_p50, unit),
                                 in_unit(phase->call_ns_p90, unit),  in_unit(phase->call_ns_p99, unit),
                                 in_unit(phase->call_ns_p999, unit), in_unit(phase->call_ns_max, unit)};
    if (are_continued) row.push_back(std::to_string(phase->num_continued));
    table.add_row(std::move(row));
  }
  std::string text = fmt::format("latency of calls in {} (so many are faster)\n{}", unit.name, table.text());
  if (are_continued) text += "  continued: moved less than asked, and were called again for the rest\n";
  return text;
}

std::string io_throughput_text(const IoResult& result) {
  std::string text;
  for (const PhaseSummary* const phase : shown_phases(result)) {
    const Folded series = folded(phase->series);
    if (series.bytes.size() < 2) continue;
    const std::uint64_t most = *std::max_element(series.bytes.begin(), series.bytes.end());
    std::string line;
    for (const std::uint64_t bytes : series.bytes) line += height_of(bytes, most);
    text +=
        fmt::format("  {:<5} [{}] # is {}, one is {}\n", name_of(phase->place.operation), line,
                    format_bandwidth(1e9 * static_cast<double>(most) / series.bin_ns), format_time_ns(series.bin_ns));
  }
  return text.empty() ? "" : "throughput over time, all ranks\n" + text;
}

}  // namespace leadline::output
