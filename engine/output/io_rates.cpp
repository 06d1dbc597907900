// SPDX-License-Identifier: Apache-2.0
// Writes rates, and what limits their meaning.
#include "output/io_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "output/io_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

const OperationSummary* summary_of(const IoResult& result, IoOperation operation) {
  for (const OperationSummary& summary : result.operations) {
    if (summary.operation == operation && summary.num > 0) return &summary;
  }
  return nullptr;
}

double share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? not_measured : static_cast<double>(part) / static_cast<double>(all);
}

/// "2.345 GiB/s", with its spread over repetitions.
std::string rate_text(const OperationSummary& summary, const Unit& unit) {
  std::string text = fmt::format("{} {}", in_unit(summary.median, unit), unit.name);
  if (summary.num < 2) return text;
  text += fmt::format(", the median of {} ({} to {}; mean {}", summary.num, in_unit(summary.min, unit),
                      in_unit(summary.max, unit), in_unit(summary.mean, unit));
  if (std::isfinite(summary.half_width)) text += fmt::format(" ± {}, 95 %", in_unit(summary.half_width, unit));
  return text + ")";
}

const char* word_for(ReadSource source) {
  switch (source) {
    case ReadSource::cache:
      return "from the page cache";
    case ReadSource::storage:
      return "from storage";
    case ReadSource::mixed:
      return "from both";
    case ReadSource::not_known:
      break;
  }
  return "from an unknown source";
}

std::string source_line(const IoRequest& request, const PhaseSummary& phase) {
  const CacheState& before = phase.cache_before;
  const std::string word = word_for(phase.source);
  if (request.cache_path == CachePath::direct) return fmt::format("round the page cache: {}", word);
  if (!before.is_known || before.pages == 0) return fmt::format("what was cached before is unknown: {}", word);
  return fmt::format("{} of the pages were cached before: {}", percent_text(share_of(before.cached, before.pages)),
                     word);
}

std::string sync_words(SyncTiming sync) {
  switch (sync) {
    case SyncTiming::inside:
      return "fsync is inside the time";
    case SyncTiming::outside:
      return "fsync is outside the time";
    case SyncTiming::none:
      break;
  }
  return "no fsync";
}

std::string durability_line(const IoRequest& request, const PhaseSummary& phase) {
  std::string text = sync_words(request.sync);
  if (phase.is_durable) return text + ": nothing was dirty when the time ended";
  const CacheState& after = phase.cache_after;
  if (!after.is_known || after.pages == 0) return text + ": what was dirty when the time ended is unknown";
  return fmt::format("{}: {} of the pages were dirty or being written when the time ended", text,
                     percent_text(share_of(after.dirty + after.writeback, after.pages)));
}

std::string state_word(const IoRequest& request, const PhaseSummary& phase) {
  if (!phase.is_complete) return "ended by an error";
  if (request.no_file) return "messages only";
  if (phase.position.operation == IoOperation::write) return phase.is_durable ? "durable" : "not durable";
  return word_for(phase.source);
}

std::uint64_t bytes_of(const PhaseSummary& phase) { return phase.bytes > 0 ? phase.bytes : phase.message_bytes; }

bool has_stop(const IoResult& result) {
  return std::any_of(result.phases.begin(), result.phases.end(), [](const auto& phase) { return phase.has_stop; });
}

std::string meanings(const IoResult& result) {
  const IoRequest& request = result.request;
  const bool is_sync_inside =
      !request.no_file && request.operations != IoOperations::read && request.sync == SyncTiming::inside;
  std::string text = fmt::format(
      "  slowest rank: bytes / the longest I/O time of a rank, from its open to its close{}; the rate to quote\n"
      "  mean rank: bytes / the mean I/O time; transfer: the slowest rank's without open, preallocation, fsync and "
      "close\n"
      "  wall: bytes / from the first begin to the last end, with making and checking contents\n",
      is_sync_inside ? ", fsync inside" : "");
  if (has_stop(result)) text += "  at stop: bytes that were moved when the time limit passed / that time\n";
  return text;
}

}  // namespace

const PhaseSummary* phase_for(const IoResult& result, IoOperation operation) {
  const OperationSummary* const summary = summary_of(result, operation);
  const PhaseSummary* nearest = nullptr;
  const auto distance = [&](const PhaseSummary& phase) {
    return summary == nullptr ? 0.0 : std::abs(phase.bytes_per_s - summary->median);
  };
  for (const PhaseSummary& phase : result.phases) {
    if (phase.position.operation != operation || !phase.is_complete) continue;
    if (nearest == nullptr || distance(phase) < distance(*nearest)) nearest = &phase;
  }
  return nearest;
}

Unit unit_of_rates(const IoResult& result) {
  std::vector<double> rates;
  for (const PhaseSummary& phase : result.phases) rates.push_back(phase.bytes_per_s);
  return bandwidth_unit(middle_of(rates));
}

std::string io_headlines(const IoResult& result) {
  const Unit unit = unit_of_rates(result);
  std::string text;
  for (const IoOperation operation : {IoOperation::write, IoOperation::read}) {
    const OperationSummary* const summary = summary_of(result, operation);
    const PhaseSummary* const phase = phase_for(result, operation);
    if (summary == nullptr || phase == nullptr) continue;
    text += fmt::format("{}: {}\n", name_of(operation), rate_text(*summary, unit));
    if (result.request.no_file) continue;
    text += fmt::format("  {}\n", operation == IoOperation::write ? durability_line(result.request, *phase)
                                                                  : source_line(result.request, *phase));
  }
  return text;
}

std::string io_rates_table(const IoResult& result) {
  if (result.phases.empty()) return "";
  const Unit unit = unit_of_rates(result);
  const bool is_limited = has_stop(result);
  std::vector<Column> columns{{"phase", Align::left}, {"repeat"},   {"bytes"}, {"slowest rank"},
                              {"mean rank"},          {"transfer"}, {"wall"}};
  if (is_limited) columns.push_back({"at stop"});
  columns.push_back({"", Align::left});
  Table table(std::move(columns));
  for (const PhaseSummary& phase : result.phases) {
    std::vector<std::string> row{name_of(phase.position.operation),     std::to_string(phase.position.repeat),
                                 about_bytes(bytes_of(phase)),          in_unit(phase.bytes_per_s, unit),
                                 in_unit(phase.bytes_per_s_mean, unit), in_unit(phase.bytes_per_s_transfer, unit),
                                 in_unit(phase.bytes_per_s_wall, unit)};
    if (is_limited) row.push_back(phase.has_stop ? in_unit(phase.bytes_per_s_at_stop, unit) : "-");
    row.push_back(state_word(result.request, phase));
    table.add_row(std::move(row));
  }
  const bool has_rates =
      std::any_of(result.phases.begin(), result.phases.end(), [](const auto& phase) { return phase.is_complete; });
  return fmt::format("rates in {}\n{}{}", unit.name, table.text(), has_rates ? meanings(result) : "");
}

}  // namespace leadline::output
