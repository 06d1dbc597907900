// SPDX-License-Identifier: Apache-2.0
// The end of a parallel file test on the terminal: rates, times of ranks, and what is conspicuous.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/io/like.hpp"
#include "bench/io/result.hpp"
#include "bench/io/text.hpp"
#include "core/units.hpp"
#include "output/diagnosis_text.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::size_t widest_line = 40;
constexpr std::size_t most_interrupted_shown = 32;
constexpr std::string_view heights = " .:-=+*#";  // ASCII: tables end up in job logs of any encoding

/// Of those that move bytes; metadata have a table of their own.
std::vector<const PhaseSummary*> shown_phases(const IoResult& result) {
  std::vector<const PhaseSummary*> phases;
  for (const IoOperation operation : {IoOperation::write, IoOperation::mix, IoOperation::read}) {
    if (const PhaseSummary* const phase = phase_for(result, operation)) phases.push_back(phase);
  }
  return phases;
}

bool is_outside(const IoRequest& request, IoTime time) {
  return time == IoTime::fill || time == IoTime::verify ||
         (time == IoTime::sync && request.sync == SyncTiming::outside);
}

std::string which_repeat(const IoResult& result, const PhaseSummary& phase) {
  return result.request.repeat > 1 ? fmt::format(" of repeat {}, which is nearest to the median", phase.position.repeat)
                                   : "";
}

void add_times(output::Table& table, const IoResult& result, const PhaseSummary& phase, const Unit& unit) {
  const output::HostsOfRanks hosts(result.hosts);
  const auto add = [&](const std::string& name, const RankSpread& spread, const char* remark) {
    table.add_row({name, output::in_unit(spread.min, unit), hosts.with_host(spread.min_rank),
                   output::in_unit(spread.mean, unit), output::in_unit(spread.max, unit),
                   hosts.with_host(spread.max_rank), std::to_string(spread.num), remark});
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

/// For each operation a table: least, mean and greatest time of ranks by what they did.
std::string io_times_text(const IoResult& result) {
  std::string text;
  for (const PhaseSummary* const phase : shown_phases(result)) {
    if (phase->io.num == 0) continue;
    const Unit unit = time_unit(phase->io.mean);
    output::Table table({{"time", output::Align::left},
                         {"least"},
                         {"rank", output::Align::left},
                         {"mean"},
                         {"most"},
                         {"rank", output::Align::left},
                         {"ranks"},
                         {"", output::Align::left}});
    add_times(table, result, *phase, unit);
    text += fmt::format("{}times of ranks in {} ({}{})\n{}", text.empty() ? "" : "\n", unit.name,
                        name_of(phase->position.operation), which_repeat(result, *phase), table.text());
  }
  return text;
}

/// Percentiles of calls, an operation a line. Each time has a unit of its own, since the slowest call may take ten
/// million times as long as the median one.
std::string io_latencies_text(const IoResult& result) {
  std::vector<const PhaseSummary*> phases = shown_phases(result);
  std::erase_if(phases, [](const PhaseSummary* phase) { return phase->num_calls == 0; });
  if (phases.empty()) return "";
  const bool are_continued =
      std::any_of(phases.begin(), phases.end(), [](const auto* phase) { return phase->num_continued > 0; });
  std::vector<output::Column> columns{
      {"calls", output::Align::left}, {"number"}, {"least"}, {"50 %"}, {"90 %"}, {"99 %"}, {"99.9 %"}, {"most"}};
  if (are_continued) columns.push_back({"continued"});
  output::Table table(std::move(columns));
  for (const PhaseSummary* const phase : phases) {
    std::vector<std::string> row{name_of(phase->position.operation), std::to_string(phase->num_calls)};
    for (const double latency_ns : {phase->call_ns_min, phase->call_ns_p50, phase->call_ns_p90, phase->call_ns_p99,
                                    phase->call_ns_p999, phase->call_ns_max}) {
      row.push_back(format_time_ns(latency_ns));
    }
    if (are_continued) row.push_back(std::to_string(phase->num_continued));
    table.add_row(std::move(row));
  }
  std::string text = "latency of calls (so many are faster)\n" + table.text();
  if (are_continued) text += "  continued: moved less than asked, and were called again for the rest\n";
  return text;
}

/// Of a phase with a ramp: where it ends in such a line.
std::size_t end_of_ramp(const PhaseSummary& phase, const Folded& series) {
  return std::min(series.bytes.size(), static_cast<std::size_t>(std::round(phase.ramp_ns / series.bin_ns)));
}

/// "[.:=++##=.]" for each operation, with the height of the bar; "[.:|=++##=.]" with a ramp.
std::string io_throughput_text(const IoResult& result) {
  std::string text;
  for (const PhaseSummary* const phase : shown_phases(result)) {
    const Folded series = folded(phase->series);
    if (series.bytes.size() < 2) continue;
    const std::uint64_t most = *std::max_element(series.bytes.begin(), series.bytes.end());
    std::string line;
    for (const std::uint64_t bytes : series.bytes) line += height_of(bytes, most);
    const bool has_ramp = std::isfinite(phase->ramp_ns);
    if (has_ramp) line.insert(end_of_ramp(*phase, series), 1, '|');
    text += fmt::format("  {:<5} [{}] # is {}, one is {}{}\n", name_of(phase->position.operation), line,
                        format_bandwidth(1e9 * static_cast<double>(most) / series.bin_ns),
                        format_time_ns(series.bin_ns), has_ramp ? ", | is the end of the ramp" : "");
  }
  return text.empty() ? "" : "throughput over time, all ranks\n" + text;
}

std::string io_slow_calls_text(const IoResult& result);

constexpr std::size_t most_shown = 8;

/// "... and 4 more in the result file".
std::string the_others(std::size_t num) {
  return num > most_shown ? fmt::format("  ... and {} more in the result file\n", num - most_shown) : "";
}

struct OfPhase {
  const PhaseSummary* phase;
  const SlowCall* call;
};

std::vector<OfPhase> slow_calls_of(const IoResult& result) {
  std::vector<OfPhase> calls;
  for (const PhaseSummary& phase : result.phases) {
    for (const SlowCall& call : phase.slow_calls) calls.push_back({&phase, &call});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const OfPhase& one, const OfPhase& other) { return one.call->time_ns > other.call->time_ns; });
  return calls;
}

const char* fate_of(const HintInForce& hint) {
  if (hint.granted.empty()) return "ignored";
  if (hint.granted != hint.asked) return hint.is_confirmed ? "another value is in force" : "echoed otherwise";
  return hint.is_confirmed ? "in force" : "echoed, not confirmed";
}

/// "wrong: FILE at 4198400: object 4 of rank 1, read by rank 2 (node3): bits differ ..."
std::string wrong_line(const WrongObject& wrong, bool has_hosts) {
  const memory::ObjectKey& expected = wrong.mismatch.expected;
  return fmt::format("wrong: {} at {}: object {} of rank {}, read by rank {}{}: {}\n", wrong.file,
                     expected.offset_bytes + wrong.mismatch.first_byte, expected.object, expected.rank, wrong.read_by,
                     has_hosts ? fmt::format(" ({})", wrong.host) : "", memory::words_of(wrong.mismatch));
}

std::string io_slow_calls_text(const IoResult& result) {
  const std::vector<OfPhase> calls = slow_calls_of(result);
  if (calls.empty()) return "";
  const output::HostsOfRanks hosts(result.hosts);
  const Unit unit = time_unit(calls.front().call->time_ns), since = time_unit(calls.front().call->begin_ns);
  output::Table table({{unit.name},
                       {"phase", output::Align::left},
                       {"rank", output::Align::left},
                       {fmt::format("began at {}", since.name)},
                       {"bytes"},
                       {"offset"},
                       {"file", output::Align::left}});
  for (std::size_t index = 0; index < std::min(calls.size(), most_shown); ++index) {
    const auto& [phase, call] = calls[index];
    table.add_row({output::in_unit(call->time_ns, unit),
                   fmt::format("{} {}", name_of(phase->position.operation), phase->position.repeat),
                   hosts.with_host(call->rank), output::in_unit(call->begin_ns, since), format_bytes(call->size_bytes),
                   std::to_string(call->offset_bytes), call->file});
  }
  return fmt::format("slowest calls\n{}{}", table.text(), the_others(calls.size()));
}

/// Those that were asked for, each with what became of it.
std::string io_hints_text(const IoResult& result) {
  output::Table table({{"hint", output::Align::left},
                       {"asked", output::Align::left},
                       {"granted", output::Align::left},
                       {"", output::Align::left}});
  std::uint64_t num_others = 0;
  for (const HintInForce& hint : result.hints) {
    if (hint.asked.empty()) {
      ++num_others;
    } else {
      table.add_row({hint.key, hint.asked, hint.granted.empty() ? "-" : hint.granted, fate_of(hint)});
    }
  }
  if (!table.has_rows()) return "";
  std::string text = "hints\n" + table.text();
  if (num_others > 0) text += fmt::format("  {} of the library's own in the result file\n", num_others);
  return text;
}

/// A line for each of the first wrong stretches, and how many objects are wrong in all.
std::string io_wrong_text(const IoResult& result) {
  const bool has_hosts = output::HostsOfRanks(result.hosts).has_several();
  std::string text;
  std::uint64_t num_wrong = 0;
  std::size_t num_shown = 0;
  for (const PhaseSummary& phase : result.phases) {
    num_wrong += phase.num_mismatches;
    for (const WrongObject& wrong : phase.wrong) {
      if (++num_shown <= most_shown) text += wrong_line(wrong, has_hosts);
    }
  }
  if (num_wrong == 0) return text;
  return text + fmt::format("{} with wrong data in all\n", output::counted(num_wrong, "object"));
}

/// Of the phase in the middle of which the run ended: how far each rank was.
std::string io_interruption_text(const IoResult& result) {
  if (result.phases.empty() || !result.phases.back().is_interrupted) return "";
  const PhaseSummary& phase = result.phases.back();
  const output::HostsOfRanks hosts(result.hosts);
  const Unit unit = time_unit(phase.wall_ns);
  const bool has_messages = phase.message_bytes > 0;
  const bool counts_items = is_metadata(phase.position.operation);
  std::vector<output::Column> columns{
      {"rank", output::Align::left}, {fmt::format("time in {}", unit.name)}, {counts_items ? "items" : "bytes"}};
  if (has_messages) columns.push_back({"in messages"});
  columns.push_back({"", output::Align::left});
  output::Table table(std::move(columns));
  for (const std::size_t index : output::evenly_chosen(phase.at_interruption.size(), most_interrupted_shown)) {
    const RankAtInterruption& at = phase.at_interruption[index];
    std::vector<std::string> row{hosts.with_host(at.rank), output::in_unit(at.time_ns, unit),
                                 counts_items ? std::to_string(at.num_objects) : about_bytes(at.bytes)};
    if (has_messages) row.push_back(about_bytes(at.message_bytes));
    row.push_back(at.call);
    table.add_row(std::move(row));
  }
  const auto num_ranks = static_cast<std::uint64_t>(std::max(result.provenance.num_ranks, 0));
  return fmt::format("{} {} was interrupted: what {} of {} had {} until then; no rate\n{}",
                     name_of(phase.position.operation), phase.position.repeat, phase.at_interruption.size(),
                     output::counted(num_ranks, "rank"), counts_items ? "done" : "moved", table.text());
}

/// "4 files on ext4: /scratch/t.0 ...".
std::string files_words(const IoResult& result, std::string text) {
  if (!result.file_system.empty()) text += " on " + result.file_system;
  if (!result.files.empty()) text += ": " + result.files.front();
  return result.files.size() > 1 ? text + " ..." : text;
}

std::string directories_words(const IoResult& result) {
  return files_words(result, directories_description(result.files.size()));
}

std::string what_was_done(const IoResult& result) {
  const IoRequest& request = result.request;
  const std::string preset = request.preset == Preset::none ? "" : fmt::format("preset {}: ", name_of(request.preset));
  if (request.metadata) {
    return fmt::format("{}{}: {} a rank\n{}\n", preset, movement_description(request),
                       items_description(request, result.num_objects), directories_words(result));
  }
  std::string text = fmt::format("{}{}: {} a rank{}", preset, movement_description(request),
                                 objects_description(result.num_objects, request.object_size_bytes),
                                 request.time_based ? ", again and again" : "");
  if (schedule::is_funnel(request.movement))
    text += fmt::format(", {}", output::counted(result.io_ranks.size(), "I/O rank"));
  text += "\n";
  if (request.no_file) return text;
  return text + fmt::format("{}: {}\n{}\n", result.backend_library, calls_description(request),
                            files_words(result, output::counted(result.files.size(), "file")));
}

std::string verified_line(const IoResult& result) {
  if (result.verified_bytes == 0) return "";
  return fmt::format("verified: {} read as written\n", about_bytes(result.verified_bytes));
}

}  // namespace

std::string io_summary(const IoResult& result, const std::string& path) {
  std::string text = output::run_head(result) + what_was_done(result) + output::simulated_line(result);
  const auto add_part = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add_part(io_headlines(result));
  add_part(io_rates_table(result));
  add_part(like_text(result));
  add_part(io_metadata_table(result));
  add_part(io_interruption_text(result));
  add_part(io_times_text(result));
  add_part(io_latencies_text(result));
  add_part(io_throughput_text(result));
  add_part(io_slow_calls_text(result));
  add_part(io_hints_text(result));
  add_part(io_wrong_text(result));
  add_part(output::diagnoses_text(result.diagnoses));
  add_part(output::findings_text(result.findings));
  add_part(verified_line(result) + output::where_it_lies(result.request.format, path));
  return text;
}

}  // namespace leadline::bench::io
