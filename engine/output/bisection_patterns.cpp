// SPDX-License-Identifier: Apache-2.0
// Brings repeats of named patterns together, and looks for the worst ones.
#include "output/bisection_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "output/bisection_numbers.hpp"
#include "output/host_of_rank.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_sizes_across = 6;
constexpr std::size_t most_patterns_shown = 24;

/// A named pattern with one message size over its repeats.
struct Repeated {
  std::uint64_t index = 0;  ///< into the names
  std::uint64_t num = 0;
  double sum = 0, sum_of_inverses = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
  const PatternSummary* slowest = nullptr;  ///< the repeat with the slowest connection

  void add(const PatternSummary& pattern) {
    ++num;
    sum += pattern.bytes_per_s_mean;
    sum_of_inverses += 1 / pattern.bytes_per_s_harmonic;
    least = std::min(least, pattern.bytes_per_s_mean);
    greatest = std::max(greatest, pattern.bytes_per_s_mean);
    if (slowest == nullptr || pattern.bytes_per_s_min < slowest->bytes_per_s_min) slowest = &pattern;
  }
  double mean() const { return sum / static_cast<double>(num); }
  double harmonic() const { return static_cast<double>(num) / sum_of_inverses; }
  double spread() const { return (greatest - least) / mean(); }
};

using BySize = std::map<int, std::vector<Repeated>>;

BySize named_by_size(const BisectionResult& result) {
  BySize sizes;
  for (const PatternSummary& pattern : result.patterns) {
    if (pattern.place.kind != PatternKind::named) continue;
    std::vector<Repeated>& patterns = sizes[pattern.place.size_index];
    const auto index = static_cast<std::size_t>(pattern.place.index);
    while (patterns.size() <= index) patterns.push_back({.index = patterns.size()});
    patterns[index].add(pattern);
  }
  return sizes;
}

/// All in their order; of very many the lowest and the highest, by their means.
std::vector<Repeated> shown(const std::vector<Repeated>& patterns) {
  std::vector<Repeated> some;
  std::copy_if(patterns.begin(), patterns.end(), std::back_inserter(some), [](const auto& one) { return one.num > 0; });
  if (some.size() <= most_patterns_shown) return some;
  std::stable_sort(some.begin(), some.end(),
                   [](const auto& one, const auto& other) { return one.mean() < other.mean(); });
  constexpr std::ptrdiff_t each_end = most_patterns_shown / 2;
  some.erase(some.begin() + each_end, some.end() - each_end);
  return some;
}

std::string left_out(std::size_t num_shown, std::size_t num) {
  if (num_shown == num) return "";
  return fmt::format("  these are the lowest and the highest of {} patterns; the result file has all\n", num);
}

std::string name(const BisectionResult& result, const Repeated& pattern) {
  return result.pattern_names[static_cast<std::size_t>(pattern.index)];
}

/// What the time limit cut off.
std::string not_measured(const BisectionResult& result, const std::vector<Repeated>& patterns) {
  std::uint64_t num = 0;
  for (const Repeated& pattern : patterns) num += pattern.num;
  const std::uint64_t all = result.pattern_names.size() * static_cast<std::uint64_t>(result.request.repeat);
  if (num == all) return "";
  return fmt::format("  there was time for {} of {}; --time-limit says for how many\n", num,
                     counted(all, "named pattern"));
}

std::string detail_table(const BisectionResult& result, int size_index, const std::vector<Repeated>& patterns,
                         const Unit& unit) {
  const BisectionSummary* const random = summary_of(result, size_index);
  const bool has_alone = random != nullptr && std::isfinite(random->baseline.mean);
  const bool has_repeats = result.request.repeat > 1;
  std::vector<Column> columns{{"pattern", Align::left}, {"connections"},    {"mean"}, {"harmonic"}, {"slowest"},
                              {"from", Align::left},    {"to", Align::left}};
  if (random != nullptr) columns.push_back({"mean / eBB"});
  if (has_alone) columns.push_back({"mean / alone"});
  if (has_repeats) columns.push_back({"spread"});
  Table table(std::move(columns));
  const HostsOfRanks hosts(result.hosts);
  const std::vector<Repeated> some = shown(patterns);
  for (const Repeated& pattern : some) {
    const PatternSummary& slowest = *pattern.slowest;
    std::vector<std::string> row{name(result, pattern),
                                 std::to_string(slowest.num_connections),
                                 in_unit(pattern.mean(), unit),
                                 in_unit(pattern.harmonic(), unit),
                                 in_unit(slowest.bytes_per_s_min, unit),
                                 hosts.with_host(slowest.slowest_from),
                                 hosts.with_host(slowest.slowest_to)};
    if (random != nullptr) row.push_back(share_text(pattern.mean() / random->ebb.mean));
    if (has_alone) row.push_back(share_text(pattern.mean() / random->baseline.mean));
    if (has_repeats) row.push_back(percent(pattern.spread()));
    table.add_row(std::move(row));
  }
  std::string text = table.text() + left_out(some.size(), patterns.size()) + not_measured(result, patterns);
  if (has_repeats) {
    text += fmt::format("  {} repeats: mean and slowest of all; spread: greatest less least over the mean\n",
                        result.request.repeat);
  }
  return text;
}

/// A row a pattern, a column a size; the patterns are those that the largest size shows.
std::string means_table(const BisectionResult& result, const BySize& sizes, const Unit& unit) {
  std::vector<const std::vector<Repeated>*> of_size;
  std::vector<Column> columns{{"pattern", Align::left}};
  const std::vector<std::size_t> across = evenly_chosen(sizes.size(), most_sizes_across);
  for (const std::size_t position : across) {
    const auto size = std::next(sizes.begin(), static_cast<std::ptrdiff_t>(position));
    columns.push_back({format_bytes(result.request.message_sizes_bytes[static_cast<std::size_t>(size->first)])});
    of_size.push_back(&size->second);
  }
  Table table(std::move(columns));
  for (const Repeated& pattern : shown(sizes.rbegin()->second)) {
    std::vector<std::string> row{name(result, pattern)};
    for (const auto* const patterns : of_size) {
      const bool is_there = pattern.index < patterns->size();
      row.push_back(is_there ? in_unit((*patterns)[static_cast<std::size_t>(pattern.index)].mean(), unit) : "-");
    }
    table.add_row(std::move(row));
  }
  std::string text = table.text();
  if (across.size() < sizes.size()) {
    text += fmt::format("  {} of {} message sizes; the result file has all\n", across.size(), sizes.size());
  }
  return text;
}

/// The pattern of this kind and size with the least mean; null where there is none.
const PatternSummary* least(const BisectionResult& result, PatternKind kind, int size_index) {
  const PatternSummary* least = nullptr;
  for (const PatternSummary& pattern : result.patterns) {
    if (pattern.place.kind != kind || pattern.place.size_index != size_index) continue;
    if (least == nullptr || pattern.bytes_per_s_mean < least->bytes_per_s_mean) least = &pattern;
  }
  return least;
}

std::string one_worst(const BisectionResult& result, int size_index, const PatternSummary& found, const Unit& unit) {
  const auto num_steps =
      std::count_if(result.patterns.begin(), result.patterns.end(), [&](const PatternSummary& pattern) {
        return pattern.place.kind == PatternKind::worst && pattern.place.size_index == size_index;
      });
  std::string steps = counted(static_cast<std::uint64_t>(num_steps), "step");
  if (num_steps < result.request.num_worst_steps) {
    steps = fmt::format("{} of {}", num_steps, counted(result.request.num_worst_steps, "step"));
  }
  const BisectionSummary* const random = summary_of(result, size_index);
  const auto numbers = [&](const PatternSummary& pattern) {
    std::string text = fmt::format("{} {}", in_unit(pattern.bytes_per_s_mean, unit), unit.name);
    if (random != nullptr)
      text += fmt::format(", {} of the eBB", share_text(pattern.bytes_per_s_mean / random->ebb.mean));
    return text + fmt::format(" (pattern {})", pattern.place.number);
  };
  const PatternSummary* const worst_random = least(result, PatternKind::random, size_index);
  std::string text = fmt::format("worst pattern after {} of the search, messages of {}: {}\n", steps,
                                 format_bytes(found.place.message_size_bytes), numbers(found));
  if (worst_random != nullptr) text += fmt::format("  worst random pattern: {}\n", numbers(*worst_random));
  return text;
}

}  // namespace

std::string named_patterns_text(const BisectionResult& result) {
  const BySize sizes = named_by_size(result);
  if (sizes.empty()) return "";
  const Unit unit = unit_of_bandwidths(result);
  const auto& [largest, patterns] = *sizes.rbegin();
  std::string text;
  if (sizes.size() > 1) {
    text =
        fmt::format("named patterns, mean of the connections in {}\n{}\n", unit.name, means_table(result, sizes, unit));
  }
  return text + fmt::format("named patterns with messages of {}, in {}\n{}",
                            format_bytes(result.request.message_sizes_bytes[static_cast<std::size_t>(largest)]),
                            unit.name, detail_table(result, largest, patterns, unit));
}

std::string worst_patterns_text(const BisectionResult& result) {
  const Unit unit = unit_of_bandwidths(result);
  std::string text;
  for (std::size_t size = 0; size < result.request.message_sizes_bytes.size(); ++size) {
    const auto index = static_cast<int>(size);
    const PatternSummary* const found = least(result, PatternKind::worst, index);
    if (found != nullptr) text += one_worst(result, index, *found, unit);
  }
  return text;
}

}  // namespace leadline::output
