// SPDX-License-Identifier: Apache-2.0
// The end of a bisection test on the terminal: sizes, named patterns, what is slow, and findings.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/bisection/result.hpp"
#include "bench/bisection/text.hpp"
#include "core/units.hpp"
#include "output/diagnosis_text.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::bisection {
namespace {

constexpr std::size_t most_buckets_shown = 20;
constexpr double widest_bar = 40;

const char* const meaning_of_harmonic = "message size / mean time, as Netgauge counts";
const char* const meaning_of_full_load = "until the first connection of a pattern is done";

std::vector<const BisectionSummary*> measured_sizes(const BisectionResult& result) {
  std::vector<const BisectionSummary*> sizes;
  for (const BisectionSummary& summary : result.sizes) {
    if (summary.num_patterns > 0) sizes.push_back(&summary);
  }
  return sizes;
}

std::string why_it_stopped(const BisectionRequest& request, const BisectionSummary& summary) {
  const std::string patterns = output::counted(summary.num_patterns, "pattern");
  const bool has_interval = std::isfinite(summary.ebb.half_width);
  const std::string width =
      has_interval ? fmt::format("; the interval is ± {}", output::percent_text(relative_width(summary.ebb))) : "";
  switch (summary.stopped_by) {
    case StopReason::precision:
      return fmt::format("stopped: precision of {:g} % reached after {}", 100 * request.precision, patterns);
    case StopReason::rounds:
      return fmt::format("stopped: all rounds done, {}{}", patterns, width);
    case StopReason::time_limit:
      return fmt::format("stopped: time limit of {} reached after {}{}", output::format_duration(request.time_limit_s),
                         patterns, width);
    case StopReason::not_stopped:
      break;
  }
  return fmt::format("not finished: {}{}", patterns, width);
}

const char* word_for(StopReason reason) {
  switch (reason) {
    case StopReason::precision:
      return "precision";
    case StopReason::rounds:
      return "rounds";
    case StopReason::time_limit:
      return "time limit";
    case StopReason::not_stopped:
      break;
  }
  return "not finished";
}

/// "eBB = 3.214 ± 0.031 GiB/s (95 %, 120 patterns)"
std::string ebb_line(const BisectionSummary& summary, const Unit& unit) {
  const bool has_interval = std::isfinite(summary.ebb.half_width);
  return fmt::format("eBB = {} {} ({}{})\n", plus_minus(summary.ebb, unit), unit.name, has_interval ? "95 %, " : "",
                     output::counted(summary.num_patterns, "pattern"));
}

/// "0.800 ± 0.012 of pairs alone": contention; the two other shares that a load has in a line.
std::string shares_text(const BisectionSummary& summary, const Unit& unit) {
  std::string text;
  std::vector<std::string> others;
  if (std::isfinite(summary.contention_share.mean)) {
    text = fmt::format("  {} of pairs alone ({} {}, {})\n", plus_minus(summary.contention_share, Unit{}),
                       plus_minus(summary.baseline, unit), unit.name, output::counted(summary.baseline.num, "pair"));
    others.push_back(
        fmt::format("static share {} (pairs alone over the fastest one)", plus_minus(summary.static_share, Unit{})));
  }
  if (std::isfinite(summary.tail)) {
    others.push_back(fmt::format("tail {} (median over 1 % quantile)", share_text(summary.tail)));
  }
  return others.empty() ? text : text + fmt::format("  {}\n", fmt::join(others, ", "));
}

std::string connections_table(const BisectionSummary& summary, const Unit& unit) {
  output::Table table({{output::counted(summary.num_connections, "connection"), output::Align::left},
                       {unit.name},
                       {"", output::Align::left}});
  const auto add = [&](const char* name, double bytes_per_s, const std::string& remark = {}) {
    table.add_row({name, output::in_unit(bytes_per_s, unit), remark});
  };
  const std::string full_load_width = std::isfinite(summary.full_load.half_width)
                                          ? fmt::format("± {}, ", output::in_unit(summary.full_load.half_width, unit))
                                          : "";
  add("mean, the eBB", summary.ebb.mean);
  add("mean under full load", summary.full_load.mean, full_load_width + meaning_of_full_load);
  add("harmonic mean", summary.bytes_per_s_harmonic, meaning_of_harmonic);
  add("fastest", summary.bytes_per_s_max);
  add("median", summary.bytes_per_s_median);
  add("5 % are below", summary.bytes_per_s_p05);
  add("1 % are below", summary.bytes_per_s_p01);
  add("slowest", summary.bytes_per_s_min);
  return table.text();
}

std::string one_size(const BisectionResult& result, const BisectionSummary& summary, const Unit& unit) {
  return fmt::format("message size {}: {}{}  {}\n\n{}", format_bytes(summary.message_size_bytes),
                     ebb_line(summary, unit), shares_text(summary, unit), why_it_stopped(result.request, summary),
                     connections_table(summary, unit));
}

bool has_baseline(const std::vector<const BisectionSummary*>& sizes) {
  return std::ranges::any_of(sizes, [](const auto* summary) { return std::isfinite(summary->baseline.mean); });
}

std::string intervals_table(const std::vector<const BisectionSummary*>& sizes, const Unit& unit) {
  std::vector<output::Column> columns{{"message size"}, {"patterns"}, {"eBB"}, {"± %"}};
  if (has_baseline(sizes)) columns.insert(columns.end(), {{"pairs alone"}, {"of alone"}});
  columns.push_back({"stopped by", output::Align::left});
  output::Table table(std::move(columns));
  for (const BisectionSummary* const summary : sizes) {
    const double width = relative_width(summary->ebb);
    std::vector<std::string> row{format_bytes(summary->message_size_bytes), std::to_string(summary->num_patterns),
                                 plus_minus(summary->ebb, unit),
                                 std::isfinite(width) ? fmt::format("{:.1f}", 100 * width) : "-"};
    if (has_baseline(sizes)) {
      row.push_back(plus_minus(summary->baseline, unit));
      row.push_back(plus_minus(summary->contention_share, Unit{}));
    }
    row.emplace_back(word_for(summary->stopped_by));
    table.add_row(std::move(row));
  }
  return table.text();
}

std::string quantiles_table(const std::vector<const BisectionSummary*>& sizes, const Unit& unit) {
  std::vector<output::Column> columns{{"message size"}, {"harmonic"}, {"full load"}, {"fastest"}, {"median"},
                                      {"5 %"},          {"1 %"},      {"slowest"},   {"tail"}};
  const bool has_static = has_baseline(sizes);
  if (has_static) columns.push_back({"static share"});
  output::Table table(std::move(columns));
  for (const BisectionSummary* const summary : sizes) {
    std::vector<std::string> row{format_bytes(summary->message_size_bytes)};
    for (const double bytes_per_s :
         {summary->bytes_per_s_harmonic, summary->full_load.mean, summary->bytes_per_s_max, summary->bytes_per_s_median,
          summary->bytes_per_s_p05, summary->bytes_per_s_p01, summary->bytes_per_s_min}) {
      row.push_back(output::in_unit(bytes_per_s, unit));
    }
    row.push_back(share_text(summary->tail));
    if (has_static) row.push_back(plus_minus(summary->static_share, Unit{}));
    table.add_row(std::move(row));
  }
  return fmt::format("connections in {}\n{}  harmonic: {}; full load: {}\n  tail: median / 1 %{}\n", unit.name,
                     table.text(), meaning_of_harmonic, meaning_of_full_load,
                     has_static ? "; static share: pairs alone over the fastest one" : "");
}

/// At most so many buckets: neighbours go together.
std::vector<TimeBucket> shown_buckets(const std::vector<TimeBucket>& buckets) {
  const std::size_t run_collectively = (buckets.size() + most_buckets_shown - 1) / most_buckets_shown;
  std::vector<TimeBucket> shown;
  for (std::size_t index = 0; index < buckets.size(); ++index) {
    const TimeBucket& bucket = buckets[index];
    if (index % run_collectively == 0) shown.push_back({bucket.low_ns, bucket.high_ns, 0});
    shown.back().high_ns = bucket.high_ns;
    shown.back().num += bucket.num;
  }
  return shown;
}

double bandwidth(std::uint64_t size_bytes, double time_ns) { return 1e9 * static_cast<double>(size_bytes) / time_ns; }

/// Of one size a few lines and a table of its connections, of several a row each. Empty without random patterns.
std::string sizes_text(const BisectionResult& result) {
  const std::vector<const BisectionSummary*> sizes = measured_sizes(result);
  if (sizes.empty()) return "";
  const Unit unit = unit_of_bandwidths(result);
  if (sizes.size() == 1) return one_size(result, *sizes.front(), unit);
  return fmt::format("effective bisection bandwidth (eBB) in {}, 95 % intervals over patterns\n{}\n{}", unit.name,
                     intervals_table(sizes, unit), quantiles_table(sizes, unit));
}

/// The histogram of the largest size. Empty where there is none.
std::string histogram_text(const BisectionResult& result) {
  const std::vector<const BisectionSummary*> sizes = measured_sizes(result);
  if (sizes.empty() || sizes.back()->buckets.empty()) return "";
  const BisectionSummary& summary = *sizes.back();
  const std::vector<TimeBucket> buckets = shown_buckets(summary.buckets);
  const std::uint64_t most = std::max_element(buckets.begin(), buckets.end(), [](const auto& one, const auto& other) {
                               return one.num < other.num;
                             })->num;
  const Unit time = time_unit(buckets.front().low_ns), unit = unit_of_bandwidths(result);
  output::Table table({{fmt::format("{} from", unit.name)},
                       {"to"},
                       {fmt::format("{} from", time.name)},
                       {"to"},
                       {"connections"},
                       {"", output::Align::left}});
  for (const TimeBucket& bucket : buckets) {
    const double share = most == 0 ? 0 : static_cast<double>(bucket.num) / static_cast<double>(most);
    table.add_row({output::in_unit(bandwidth(summary.message_size_bytes, bucket.low_ns), unit),
                   output::in_unit(bandwidth(summary.message_size_bytes, bucket.high_ns), unit),
                   output::in_unit(bucket.low_ns, time), output::in_unit(bucket.high_ns, time),
                   std::to_string(bucket.num),
                   std::string(static_cast<std::size_t>(std::ceil(share * widest_bar)), '#')});
  }
  std::string text = fmt::format("how many connections with messages of {} were how fast\n{}",
                                 format_bytes(summary.message_size_bytes), table.text());
  if (buckets.size() < summary.buckets.size()) {
    text += fmt::format("  of {} buckets neighbours are shown together\n", summary.buckets.size());
  }
  return text;
}

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
    if (pattern.position.kind != PatternKind::named) continue;
    std::vector<Repeated>& patterns = sizes[pattern.position.size_index];
    const auto index = static_cast<std::size_t>(pattern.position.index);
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
std::string not_measured_line(const BisectionResult& result, const std::vector<Repeated>& patterns) {
  std::uint64_t num = 0;
  for (const Repeated& pattern : patterns) num += pattern.num;
  const std::uint64_t all = result.pattern_names.size() * static_cast<std::uint64_t>(result.request.repeat);
  if (num == all) return "";
  return fmt::format("  there was time for {} of {}; --time-limit says for how many\n", num,
                     output::counted(all, "named pattern"));
}

std::string detail_table(const BisectionResult& result, int size_index, const std::vector<Repeated>& patterns,
                         const Unit& unit) {
  const BisectionSummary* const random = summary_of(result, size_index);
  const bool has_repeats = result.request.repeat > 1;
  std::vector<output::Column> columns{{"pattern", output::Align::left},
                                      {"connections"},
                                      {"mean"},
                                      {"harmonic"},
                                      {"slowest"},
                                      {"from", output::Align::left},
                                      {"to", output::Align::left}};
  if (random != nullptr) columns.push_back({"mean / eBB"});
  if (has_repeats) columns.push_back({"spread"});
  output::Table table(std::move(columns));
  const output::HostsOfRanks hosts(result.hosts);
  const std::vector<Repeated> some = shown(patterns);
  for (const Repeated& pattern : some) {
    const PatternSummary& slowest = *pattern.slowest;
    std::vector<std::string> row{name(result, pattern),
                                 std::to_string(slowest.num_connections),
                                 output::in_unit(pattern.mean(), unit),
                                 output::in_unit(pattern.harmonic(), unit),
                                 output::in_unit(slowest.bytes_per_s_min, unit),
                                 hosts.with_host(slowest.slowest_from),
                                 hosts.with_host(slowest.slowest_to)};
    if (random != nullptr) row.push_back(share_text(pattern.mean() / random->ebb.mean));
    if (has_repeats) row.push_back(output::percent_text(pattern.spread()));
    table.add_row(std::move(row));
  }
  std::string text = table.text() + left_out(some.size(), patterns.size()) + not_measured_line(result, patterns);
  if (has_repeats) {
    text += fmt::format("  {} repeats: mean and slowest of all; spread: greatest less least over the mean\n",
                        result.request.repeat);
  }
  return text;
}

/// A row a pattern, a column a size; the patterns are those that the largest size shows.
std::string means_table(const BisectionResult& result, const BySize& sizes, const Unit& unit) {
  std::vector<const std::vector<Repeated>*> of_size;
  std::vector<output::Column> columns{{"pattern", output::Align::left}};
  const std::vector<std::size_t> across = output::evenly_chosen(sizes.size(), most_sizes_across);
  for (const std::size_t position : across) {
    const auto size = std::next(sizes.begin(), static_cast<std::ptrdiff_t>(position));
    columns.push_back({format_bytes(result.request.message_sizes_bytes[static_cast<std::size_t>(size->first)])});
    of_size.push_back(&size->second);
  }
  output::Table table(std::move(columns));
  for (const Repeated& pattern : shown(sizes.rbegin()->second)) {
    std::vector<std::string> row{name(result, pattern)};
    for (const auto* const patterns : of_size) {
      const bool is_there = pattern.index < patterns->size();
      row.push_back(is_there ? output::in_unit((*patterns)[static_cast<std::size_t>(pattern.index)].mean(), unit)
                             : "-");
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
    if (pattern.position.kind != kind || pattern.position.size_index != size_index) continue;
    if (least == nullptr || pattern.bytes_per_s_mean < least->bytes_per_s_mean) least = &pattern;
  }
  return least;
}

std::string one_worst(const BisectionResult& result, int size_index, const PatternSummary& found, const Unit& unit) {
  const auto num_steps =
      std::count_if(result.patterns.begin(), result.patterns.end(), [&](const PatternSummary& pattern) {
        return pattern.position.kind == PatternKind::worst && pattern.position.size_index == size_index;
      });
  std::string steps = output::counted(static_cast<std::uint64_t>(num_steps), "step");
  if (num_steps < result.request.num_worst_steps) {
    steps = fmt::format("{} of {}", num_steps, output::counted(result.request.num_worst_steps, "step"));
  }
  const BisectionSummary* const random = summary_of(result, size_index);
  const auto numbers = [&](const PatternSummary& pattern) {
    std::string text = fmt::format("{} {}", output::in_unit(pattern.bytes_per_s_mean, unit), unit.name);
    if (random != nullptr)
      text += fmt::format(", {} of the eBB", share_text(pattern.bytes_per_s_mean / random->ebb.mean));
    return text + fmt::format(" (pattern {})", pattern.position.number);
  };
  const PatternSummary* const worst_random = least(result, PatternKind::random, size_index);
  std::string text = fmt::format("worst pattern after {} of the search, messages of {}: {}\n", steps,
                                 format_bytes(found.position.message_size_bytes), numbers(found));
  if (worst_random != nullptr) text += fmt::format("  worst random pattern: {}\n", numbers(*worst_random));
  return text;
}

/// Named patterns by size, and in detail at the largest size. Empty where none was measured.
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

/// A line a size. Empty without search.
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

constexpr std::size_t most_connections_shown = 20;

enum class Judgement : std::uint8_t { slow_alone, only_under_load, not_retested, not_slow };

struct Judged {
  const SlowConnection* connection;
  Judgement judgement;
};

Judgement judge(const BisectionResult& result, const SlowConnection& connection) {
  const BisectionSummary* const summary = summary_of(result, connection.size_index);
  const double bytes_per_s =
      1e9 * static_cast<double>(summary == nullptr ? 0 : summary->message_size_bytes) / connection.time_ns;
  if (summary == nullptr || !(bytes_per_s < (1 - result.request.diagnosis.threshold) * summary->bytes_per_s_median)) {
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
  std::vector<output::Column> columns;
  if (is_sweep) columns.push_back({"message size"});
  columns.insert(columns.end(), {{"from", output::Align::left},
                                 {"", output::Align::left},
                                 {"to", output::Align::left},
                                 {"pattern"},
                                 {fmt::format("under load {}", unit.name)},
                                 {fmt::format("alone {}", unit.name)},
                                 {"", output::Align::left}});
  output::Table table(std::move(columns));
  const output::HostsOfRanks hosts(result.hosts);
  for (std::size_t index = 0; index < std::min(judged.size(), most_connections_shown); ++index) {
    const SlowConnection& connection = *judged[index].connection;
    const std::uint64_t size = result.request.message_sizes_bytes[static_cast<std::size_t>(connection.size_index)];
    const auto bandwidth = [&](double time_ns) {
      return output::in_unit(1e9 * static_cast<double>(size) / time_ns, unit);
    };
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

/// The connections that were measured again with what came of it: those slow alone, too, before those that are slow
/// only together. Empty where there are none.
std::string slow_connections_text(const BisectionResult& result) {
  if (result.slow_connections.empty()) return "";
  const std::string slow =
      fmt::format("slow: below {:g} % of the median", 100 * (1 - result.request.diagnosis.threshold));
  const std::vector<Judged> judged = judged_connections(result);
  if (judged.empty()) return fmt::format("no slow connections ({})\n", slow);
  return fmt::format("connections with all others, and measured again alone ({})\n{}", slow,
                     connections_table(result, judged, unit_of_bandwidths(result)));
}

std::string who_plays(const BisectionResult& result) {
  std::string text;
  const auto num_ranks = static_cast<std::uint64_t>(result.provenance.num_ranks);
  if (result.num_participants != num_ranks) {
    text += fmt::format("{} of them take part, {} of each host at most\n", result.num_participants,
                        result.request.active_ranks_per_host);
  }
  text += fmt::format("each pattern: {} after {} for warm-up",
                      output::counted(result.request.num_exchanges, "timed exchange"), result.request.num_warmup);
  if (!has_random_patterns(result)) return text + "\n";
  if (result.provenance.num_hosts > 1) {
    text += result.within_hosts ? "; random pairs, also on one host" : "; random pairs between hosts";
  }
  return text + fmt::format("; seed {}\n", result.request.seed);
}

std::string measured_in(const BisectionResult& result) {
  if (result.patterns.empty()) return "";
  const PatternSummary& last = result.patterns.back();
  return fmt::format("measured {} in {}\n", output::counted(result.patterns.size(), "pattern"),
                     output::format_duration(last.begin_s + last.measuring_s));
}

}  // namespace

std::string bisection_summary(const BisectionResult& result, const std::string& path) {
  std::string text = output::run_head(result) + who_plays(result) + output::simulated_line(result);
  const auto add_part = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add_part(sizes_text(result));
  add_part(histogram_text(result));
  add_part(named_patterns_text(result));
  add_part(worst_patterns_text(result));
  add_part(output::diagnoses_text(result.diagnoses));
  add_part(slow_connections_text(result));
  add_part(output::findings_text(result.findings));
  add_part(measured_in(result) + output::run_tail(result, result.request.format, path));
  return text;
}

}  // namespace leadline::bench::bisection
