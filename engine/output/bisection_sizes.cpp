// SPDX-License-Identifier: Apache-2.0
// Writes eBB, baseline and quantiles as lines or as tables, and buckets with bars.
#include "output/bisection_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "output/bisection_numbers.hpp"
#include "output/table.hpp"

namespace leadline::output {
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
  const std::string patterns = counted(summary.num_patterns, "pattern");
  const bool has_interval = std::isfinite(summary.ebb.half_width);
  const std::string width =
      has_interval ? fmt::format("; the interval is ± {}", percent(relative_width(summary.ebb))) : "";
  switch (summary.stopped_by) {
    case StopReason::precision:
      return fmt::format("stopped: precision of {:g} % reached after {}", 100 * request.precision, patterns);
    case StopReason::rounds:
      return fmt::format("stopped: all rounds done, {}{}", patterns, width);
    case StopReason::time_limit:
      return fmt::format("stopped: time limit of {} reached after {}{}", format_duration(request.time_limit_s),
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
                     counted(summary.num_patterns, "pattern"));
}

std::string relative_line(const BisectionSummary& summary, const Unit& unit) {
  if (!std::isfinite(summary.relative.mean)) return "";
  return fmt::format("  {} of pairs alone ({} {}, {})\n", plus_minus(summary.relative, Unit{}),
                     plus_minus(summary.baseline, unit), unit.name, counted(summary.baseline.num, "pair"));
}

std::string connections_table(const BisectionSummary& summary, const Unit& unit) {
  Table table({{counted(summary.num_connections, "connection"), Align::left}, {unit.name}, {"", Align::left}});
  const auto add = [&](const char* name, double bytes_per_s, const std::string& remark = {}) {
    table.add_row({name, in_unit(bytes_per_s, unit), remark});
  };
  const std::string full_load_width = std::isfinite(summary.full_load.half_width)
                                          ? fmt::format("± {}, ", in_unit(summary.full_load.half_width, unit))
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
                     ebb_line(summary, unit), relative_line(summary, unit), why_it_stopped(result.request, summary),
                     connections_table(summary, unit));
}

std::string intervals_table(const std::vector<const BisectionSummary*>& sizes, const Unit& unit) {
  const bool has_baseline = std::any_of(sizes.begin(), sizes.end(),
                                        [](const auto* summary) { return std::isfinite(summary->baseline.mean); });
  std::vector<Column> columns{{"message size"}, {"patterns"}, {"eBB"}, {"± %"}};
  if (has_baseline) columns.insert(columns.end(), {{"pairs alone"}, {"eBB / alone"}});
  columns.push_back({"stopped by", Align::left});
  Table table(std::move(columns));
  for (const BisectionSummary* const summary : sizes) {
    const double width = relative_width(summary->ebb);
    std::vector<std::string> row{format_bytes(summary->message_size_bytes), std::to_string(summary->num_patterns),
                                 plus_minus(summary->ebb, unit),
                                 std::isfinite(width) ? fmt::format("{:.1f}", 100 * width) : "-"};
    if (has_baseline) {
      row.push_back(plus_minus(summary->baseline, unit));
      row.push_back(plus_minus(summary->relative, Unit{}));
    }
    row.emplace_back(word_for(summary->stopped_by));
    table.add_row(std::move(row));
  }
  return table.text();
}

std::string quantiles_table(const std::vector<const BisectionSummary*>& sizes, const Unit& unit) {
  Table table({{"message size"}, {"harmonic"}, {"full load"}, {"fastest"}, {"median"}, {"5 %"}, {"1 %"}, {"slowest"}});
  for (const BisectionSummary* const summary : sizes) {
    table.add_row({format_bytes(summary->message_size_bytes), in_unit(summary->bytes_per_s_harmonic, unit),
                   in_unit(summary->full_load.mean, unit), in_unit(summary->bytes_per_s_max, unit),
                   in_unit(summary->bytes_per_s_median, unit), in_unit(summary->bytes_per_s_p05, unit),
                   in_unit(summary->bytes_per_s_p01, unit), in_unit(summary->bytes_per_s_min, unit)});
  }
  return fmt::format("connections in {}\n{}  harmonic: {}; full load: {}\n", unit.name, table.text(),
                     meaning_of_harmonic, meaning_of_full_load);
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

}  // namespace

std::string sizes_text(const BisectionResult& result) {
  const std::vector<const BisectionSummary*> sizes = measured_sizes(result);
  if (sizes.empty()) return "";
  const Unit unit = unit_of_bandwidths(result);
  if (sizes.size() == 1) return one_size(result, *sizes.front(), unit);
  return fmt::format("effective bisection bandwidth (eBB) in {}, 95 % intervals over patterns\n{}\n{}", unit.name,
                     intervals_table(sizes, unit), quantiles_table(sizes, unit));
}

std::string histogram_text(const BisectionResult& result) {
  const std::vector<const BisectionSummary*> sizes = measured_sizes(result);
  if (sizes.empty() || sizes.back()->buckets.empty()) return "";
  const BisectionSummary& summary = *sizes.back();
  const std::vector<TimeBucket> buckets = shown_buckets(summary.buckets);
  const std::uint64_t most = std::max_element(buckets.begin(), buckets.end(), [](const auto& one, const auto& other) {
                               return one.num < other.num;
                             })->num;
  const Unit time = time_unit(buckets.front().low_ns), unit = unit_of_bandwidths(result);
  Table table({{fmt::format("{} from", unit.name)},
               {"to"},
               {fmt::format("{} from", time.name)},
               {"to"},
               {"connections"},
               {"", Align::left}});
  for (const TimeBucket& bucket : buckets) {
    const double share = most == 0 ? 0 : static_cast<double>(bucket.num) / static_cast<double>(most);
    table.add_row({in_unit(bandwidth(summary.message_size_bytes, bucket.low_ns), unit),
                   in_unit(bandwidth(summary.message_size_bytes, bucket.high_ns), unit), in_unit(bucket.low_ns, time),
                   in_unit(bucket.high_ns, time), std::to_string(bucket.num),
                   std::string(static_cast<std::size_t>(std::ceil(share * widest_bar)), '#')});
  }
  std::string text = fmt::format("how many connections with messages of {} were how fast\n{}",
                                 format_bytes(summary.message_size_bytes), table.text());
  if (buckets.size() < summary.buckets.size()) {
    text += fmt::format("  of {} buckets neighbours are shown together\n", summary.buckets.size());
  }
  return text;
}

}  // namespace leadline::output
