// SPDX-License-Identifier: Apache-2.0
// Writes slow components as lines and slow connections as a table.
#include "output/bisection_slow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "output/bisection_numbers.hpp"
#include "output/host_of_rank.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_components_shown = 16;
constexpr std::size_t most_connections_shown = 20;

std::string component_line(const SlowComponent& component) {
  std::string who = fmt::format("host {}", component.host);
  if (component.rank >= 0) {
    who = component.host.empty() ? fmt::format("rank {}", component.rank)
                                 : fmt::format("rank {} on {}", component.rank, component.host);
  }
  const double share = static_cast<double>(component.num_slow) / static_cast<double>(component.num_connections);
  return fmt::format("{} is slow in {:.0f} % of its {}: {:.2f} of the median\n", who, 100 * share,
                     counted(component.num_connections, "connection"), component.relative_median);
}

enum class Judgement : std::uint8_t { slow_alone, only_under_load, not_retested, not_slow };

struct Judged {
  const SlowConnection* connection;
  Judgement judgement;
};

Judgement judge(const BisectionResult& result, const SlowConnection& connection) {
  const BisectionSummary* const summary = summary_of(result, connection.size_index);
  const double bytes_per_s =
      1e9 * static_cast<double>(summary == nullptr ? 0 : summary->message_size_bytes) / connection.time_ns;
  if (summary == nullptr || !(bytes_per_s < (1 - result.request.threshold) * summary->bytes_per_s_median)) {
    return Judgement::not_slow;
  }
  if (!std::isfinite(connection.alone_time_ns)) return Judgement::not_retested;
  return connection.slow_alone ? Judgement::slow_alone : Judgement::only_under_load;
}

const char* word_for(Judgement judgement) {
  switch (judgement) {
    case Judgement::slow_alone:
      return "slow alone, too";
    case Judgement::only_under_load:
      return "slow only under load";
    case Judgement::not_retested:
      return "slow, not retested";
    case Judgement::not_slow:
      break;
  }
  return "not unusual";
}

/// Those that are slow alone first, each kind slowest first, as they come; of several sizes only what is slow.
std::vector<Judged> judged_connections(const BisectionResult& result) {
  const bool is_sweep = result.request.message_sizes_bytes.size() > 1;
  std::vector<Judged> judged;
  for (const SlowConnection& connection : result.slow_connections) {
    const Judgement judgement = judge(result, connection);
    if (!is_sweep || judgement != Judgement::not_slow) judged.push_back({&connection, judgement});
  }
  std::stable_sort(judged.begin(), judged.end(),
                   [](const Judged& one, const Judged& other) { return one.judgement < other.judgement; });
  return judged;
}

std::string connections_table(const BisectionResult& result, const std::vector<Judged>& judged, const Unit& unit) {
  const bool is_sweep = result.request.message_sizes_bytes.size() > 1;
  std::vector<Column> columns;
  if (is_sweep) columns.push_back({"message size"});
  columns.insert(columns.end(), {{"from", Align::left},
                                 {"", Align::left},
                                 {"to", Align::left},
                                 {"pattern"},
                                 {fmt::format("under load {}", unit.name)},
                                 {fmt::format("alone {}", unit.name)},
                                 {"", Align::left}});
  Table table(std::move(columns));
  const HostsOfRanks hosts(result.hosts);
  for (std::size_t index = 0; index < std::min(judged.size(), most_connections_shown); ++index) {
    const SlowConnection& connection = *judged[index].connection;
    const std::uint64_t size = result.request.message_sizes_bytes[static_cast<std::size_t>(connection.size_index)];
    const auto bandwidth = [&](double time_ns) { return in_unit(1e9 * static_cast<double>(size) / time_ns, unit); };
    std::vector<std::string> row;
    if (is_sweep) row.push_back(format_bytes(size));
    row.insert(row.end(), {hosts.with_host(connection.from), "->", hosts.with_host(connection.to),
                           std::to_string(connection.number), bandwidth(connection.time_ns),
                           bandwidth(connection.alone_time_ns), word_for(judged[index].judgement)});
    table.add_row(std::move(row));
  }
  std::string text = table.text();
  if (judged.size() > most_connections_shown) {
    text += fmt::format("  ... and {} more in the result file\n", judged.size() - most_connections_shown);
  }
  return text;
}

}  // namespace

std::string slow_components_text(const BisectionResult& result) {
  if (!has_random_patterns(result)) return "";
  if (result.slow_components.empty()) return "no rank and no host is slow in nearly all its patterns\n";
  std::string text;
  for (std::size_t index = 0; index < std::min(result.slow_components.size(), most_components_shown); ++index) {
    text += component_line(result.slow_components[index]);
  }
  if (result.slow_components.size() > most_components_shown) {
    text += fmt::format("... and {} more in the result file\n", result.slow_components.size() - most_components_shown);
  }
  return text;
}

std::string slow_connections_text(const BisectionResult& result) {
  if (result.slow_connections.empty()) return "";
  const std::string slow = fmt::format("slow: below {:g} % of the median", 100 * (1 - result.request.threshold));
  const std::vector<Judged> judged = judged_connections(result);
  if (judged.empty()) return fmt::format("no slow connections ({})\n", slow);
  return fmt::format("slowest connections, with all others and then alone ({})\n{}", slow,
                     connections_table(result, judged, unit_of_bandwidths(result)));
}

}  // namespace leadline::output
