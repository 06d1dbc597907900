// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints of a parallel file test, its progress, and what `leadline info` says of its file.
#include "bench/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/presets.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {
namespace {

using schedule::FileLayout;

constexpr std::size_t most_ranks_shown = 32;
constexpr std::size_t most_io_ranks_listed = 16;

std::uint64_t num_hosts(const Plan& plan) {
  const auto& host_of = plan.rank_layout.host_of;
  return host_of.empty() ? 1 : std::uint64_t{1} + *std::max_element(host_of.begin(), host_of.end());
}

std::string who_takes_part(const IoRequest& request, const Plan& plan) {
  return fmt::format("Parallel file test of {} on {}: {}\n",
                     output::counted(static_cast<std::uint64_t>(plan.rank_layout.num_ranks), "rank"),
                     output::counted(num_hosts(plan), "host"), movement_description(request));
}

std::string what_is_made(const IoRequest& request, const Plan& plan) {
  const std::uint64_t num_in_all = plan.layout.total_objects();
  std::string text =
      fmt::format("Metadata: {} a rank{}, {} of each in all\n", items_description(request, plan.num_objects),
                  request.time_limit_s > 0 ? " at most" : "", num_in_all);
  return text + fmt::format("Directories: {}\n", plan.layout.num_files());
}

std::string what_moves(const IoRequest& request, const Plan& plan) {
  if (request.metadata) return what_is_made(request, plan);
  const std::uint64_t all_bytes = plan.layout.total_objects() * request.object_size_bytes;
  std::string text =
      fmt::format("Data: {} a rank{}, {} in all\n", objects_description(plan.num_objects, request.object_size_bytes),
                  request.time_based         ? ", again and again"
                  : request.time_limit_s > 0 ? " at most"
                                             : "",
                  about_bytes(all_bytes));
  if (!request.no_file) {
    text += fmt::format("Files: {}; {}\n", plan.layout.num_files(), calls_description(request));
  }
  return text;
}

/// What a preset, or --like without one, stands for, with what the command line has in its place not taken off.
std::string preset_lines(const IoRequest& request, const Plan& plan) {
  const std::string of_like = preset_words(like_options(request.like));
  if (request.preset == Preset::none) {
    return of_like.empty() ? "" : fmt::format("Like {}: {}\n", name_of(request.like), of_like);
  }
  std::string text =
      fmt::format("Preset {}: {}\n", name_of(request.preset), preset_words(preset_options(request.preset)));
  const bool has_shift = request.read_shift != ReadShift::none;
  const bool is_without = request.is_shift_optional && plan.shift_by_ranks == 0 && plan.reads.empty();
  if (has_shift && is_without) {
    text += fmt::format("  without --read-shift, since there {}\n",
                        request.read_shift == ReadShift::ranks ? "is one rank" : "are too few hosts, or ranks on them");
  }
  return text;
}

std::string io_ranks_line(const IoRequest& request, const Plan& plan) {
  if (!schedule::is_funnel(request.movement)) return "";
  const std::vector<std::int32_t>& ranks = plan.layout.io_ranks().ranks;
  std::string list;
  for (std::size_t index = 0; index < std::min(ranks.size(), most_io_ranks_listed); ++index) {
    list += fmt::format("{}{}", index == 0 ? "" : ", ", ranks[index]);
  }
  if (ranks.size() > most_io_ranks_listed) list += fmt::format(" ... {}", ranks.back());
  return fmt::format("I/O ranks: {} ({}), each with {} of {}\n", ranks.size(), list,
                     output::counted(static_cast<std::uint64_t>(plan.num_buffers), "buffer"),
                     format_bytes(plan.buffer_size_bytes));
}

std::string phases_line(const IoRequest& request, const Plan& plan) {
  std::string text = "Phases:";
  const std::size_t in_one = plan.phases.size() / static_cast<std::size_t>(std::max(request.repeat, 1));
  for (std::size_t index = 0; index < in_one; ++index) {
    text += fmt::format("{} {}", index == 0 ? "" : ",", name_of(plan.phases[index].operation));
  }
  if (request.repeat > 1) text += fmt::format("; {} times", request.repeat);
  if (request.time_limit_s > 0) {
    text +=
        fmt::format("; {} each{}", output::format_duration(request.time_limit_s), request.time_based ? "" : " at most");
  }
  if (request.ramp_time_s > 0) {
    text += fmt::format(", behind {} that do not count", output::format_duration(request.ramp_time_s));
  }
  if (request.metadata && request.sync == SyncTiming::inside) text += "; fsync of each file before it is closed";
  const bool is_synced = !request.metadata && !request.no_file && request.operations != IoOperations::read;
  if (is_synced && request.sync == SyncTiming::each) {
    text += "; fsync behind each write";
  } else if (is_synced && request.sync != SyncTiming::none) {
    text += fmt::format("; fsync {} the reported time", name_of(request.sync));
  }
  return text + "\n";
}

/// "0 B to 64 MiB"; strided: "from 1 MiB, every 4 MiB".
std::string region_of(const FileLayout& layout, int rank, std::uint64_t num_objects) {
  const std::uint64_t size = layout.shape().object_size_bytes;
  const std::uint64_t first = layout.location(rank, 0).offset_bytes;
  const std::uint64_t last = layout.location(rank, num_objects - 1).offset_bytes;
  const std::uint64_t step = num_objects > 1 ? layout.location(rank, 1).offset_bytes - first : size;
  const schedule::LayoutShape& shape = layout.shape();
  const std::uint64_t in_block = shape.order == schedule::Order::strided ? shape.objects_per_block : 1;
  if (in_block > 1 && num_objects > in_block) {
    return fmt::format("{} to {}, {} every {}", format_bytes(first), format_bytes(last + size),
                       format_bytes(in_block * size),
                       format_bytes(layout.location(rank, in_block).offset_bytes - first));
  }
  if (step == size) return fmt::format("{} to {}", format_bytes(first), format_bytes(last + size));
  return fmt::format("{} to {}, every {}", format_bytes(first), format_bytes(last + size), format_bytes(step));
}

/// The name with the rank, or the file's number, in it; host and process are known only in a run.
std::string name_of_file(const IoRequest& request, const Plan& plan, std::int32_t file, std::int32_t opener) {
  const std::string& name = plan.templates[static_cast<std::size_t>(file)];
  std::string shown;
  for (std::size_t index = 0; index < name.size(); ++index) {
    const bool is_part = name[index] == '%' && index + 1 < name.size();
    if (is_part && name[index + 1] == 'r') {
      shown += std::to_string(request.movement == schedule::Movement::n_m ? file : opener);
    } else if (is_part) {
      shown += name.substr(index, 2);
    } else {
      shown += name[index];
    }
    if (is_part) ++index;
  }
  return shown;
}

std::string map_table(const IoRequest& request, const Plan& plan) {
  const FileLayout& layout = plan.layout;
  const bool is_funnel = schedule::is_funnel(request.movement);
  std::vector<output::Column> columns{{"rank"}};
  if (is_funnel) columns.push_back({"I/O rank"});
  if (request.metadata) {
    columns.insert(columns.end(), {{"directory"}, {"name", output::Align::left}});
  } else if (!request.no_file) {
    columns.insert(columns.end(), {{"file"}, {"name", output::Align::left}, {"bytes", output::Align::left}});
  }
  if (columns.size() == 1) return "";
  output::Table table(std::move(columns));
  for (const std::size_t index :
       output::evenly_chosen(static_cast<std::size_t>(layout.num_ranks()), most_ranks_shown)) {
    const int rank = static_cast<int>(index);
    std::vector<std::string> row{std::to_string(rank)};
    if (is_funnel) row.push_back(std::to_string(layout.opener_of(rank)));
    if (!request.no_file) {
      const std::int32_t file = layout.file_of(rank);
      row.insert(row.end(), {std::to_string(file), name_of_file(request, plan, file, layout.opener_of(rank))});
      if (!request.metadata) {
        row.push_back(layout.contributes(rank) ? region_of(layout, rank, plan.num_objects) : "nothing");
      }
    }
    table.add_row(std::move(row));
  }
  std::string text = "Map:\n" + table.text();
  if (static_cast<std::size_t>(layout.num_ranks()) > most_ranks_shown) {
    text += fmt::format("  of {} ranks {} are shown\n", layout.num_ranks(), most_ranks_shown);
  }
  return text;
}

std::string needs(const IoRequest& request, const Plan& plan) {
  const Estimate& estimate = plan.estimate;
  std::string memory = fmt::format("{} a rank", about_bytes(estimate.own_bytes));
  if (schedule::is_funnel(request.movement))
    memory += fmt::format(", {} an I/O rank", about_bytes(estimate.io_rank_bytes));
  const auto host_bytes = static_cast<std::uint64_t>(std::min(estimate.host_bytes, 1e19));
  std::string text = fmt::format("Needs:\n  memory    {}, {} on the fullest host\n", memory, about_bytes(host_bytes));
  if (!request.no_file) text += fmt::format("  files     {}\n", about_bytes(estimate.file_bytes));
  if (estimate.funnel_bytes > 0) {
    text += fmt::format("  messages  {} in each phase\n", about_bytes(estimate.funnel_bytes));
  }
  return text;
}

const OperationSummary* summary_of(const IoResult& result, IoOperation operation) {
  for (const OperationSummary& summary : result.operations) {
    if (summary.operation == operation && summary.num > 0) return &summary;
  }
  return nullptr;
}

double share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? not_measured : static_cast<double>(part) / static_cast<double>(all);
}

/// "2.345 GiB/s, 2401 IOPS", with its spread over repetitions.
std::string rate_text(const OperationSummary& summary, const Unit& unit) {
  std::string text = fmt::format("{} {}", output::in_unit(summary.median, unit), unit.name);
  const double operations_per_s = summary.operations_per_s.median;
  if (std::isfinite(operations_per_s)) text += fmt::format(", {} IOPS", per_second(operations_per_s));
  if (summary.num < 2) return text;
  text += fmt::format(", the median of {} ({} to {}; mean {}", summary.num, output::in_unit(summary.min, unit),
                      output::in_unit(summary.max, unit), output::in_unit(summary.mean, unit));
  if (std::isfinite(summary.half_width)) text += fmt::format(" ± {}, 95 %", output::in_unit(summary.half_width, unit));
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
  const storage::CacheState& before = phase.cache_before;
  const std::string word = word_for(phase.source);
  if (request.cache_path == storage::CachePath::direct) return fmt::format("round the page cache: {}", word);
  if (!before.is_known || before.pages == 0) return fmt::format("what was cached before is unknown: {}", word);
  if (request.time_based && phase.source == ReadSource::mixed) {
    return fmt::format("later passes may find in the page cache what earlier ones have read: {}", word);
  }
  return fmt::format("{} of the pages were cached before: {}",
                     output::percent_text(share_of(before.cached, before.pages)), word);
}

std::string sync_words(SyncTiming sync) {
  switch (sync) {
    case SyncTiming::inside:
      return "fsync is inside the time";
    case SyncTiming::outside:
      return "fsync is outside the time";
    case SyncTiming::each:
      return "fsync is behind each write, inside the time";
    case SyncTiming::none:
      break;
  }
  return "no fsync";
}

std::string durability_line(const IoResult& result, const PhaseSummary& phase) {
  std::string text = sync_words(result.request.sync);
  if (storage::is_memory(result.file_system)) return text + ": files are in memory alone";
  if (phase.is_durable) return text + ": nothing was dirty when the time ended";
  const storage::CacheState& after = phase.cache_after;
  if (result.request.cache_path == storage::CachePath::direct) {
    return text + ": what went round the page cache may be in caches of the storage";
  }
  if (!after.is_known || after.pages == 0) return text + ": what was dirty when the time ended is unknown";
  return fmt::format("{}: {} of the pages were dirty or being written when the time ended", text,
                     output::percent_text(share_of(after.dirty + after.writeback, after.pages)));
}

std::string state_word(const IoResult& result, const PhaseSummary& phase) {
  if (phase.is_interrupted) return "interrupted";
  if (!phase.is_complete) return "not complete";
  if (is_metadata(phase.position.operation) || phase.position.operation == IoOperation::mix) return "";
  if (result.request.no_file) return "messages only";
  if (phase.position.operation == IoOperation::write) {
    if (storage::is_memory(result.file_system)) return "in memory";
    return phase.is_durable ? "durable" : "not durable";
  }
  return word_for(phase.source);
}

/// "  reads: 0.700 GiB/s, 717 IOPS; a call 1.000 ms (50 %), 3.000 ms (99 %), 5.000 ms at most".
std::string mix_lines(const PhaseSummary& phase, const Unit& unit) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<MixPart>& part) {
    if (!part || part->num_calls == 0) return;
    text += fmt::format("  {}: {} {}, {} IOPS; a call {} (50 %), {} (99 %), {} at most\n", name,
                        output::in_unit(part->bytes_per_s, unit), unit.name, per_second(part->operations_per_s),
                        format_time_ns(part->call_ns_p50), format_time_ns(part->call_ns_p99),
                        format_time_ns(part->call_ns_max));
  };
  add("reads", phase.reads);
  add("writes", phase.writes);
  return text;
}

std::uint64_t bytes_of(const PhaseSummary& phase) { return phase.bytes > 0 ? phase.bytes : phase.message_bytes; }

/// "  behind a ramp of 5.012 s with 4.2 GiB, which do not count"; empty where there was none.
std::string ramp_line(const PhaseSummary& phase) {
  if (!std::isfinite(phase.ramp_ns)) return "";
  return fmt::format("  behind a ramp of {} with {}, which do not count\n", format_time_ns(phase.ramp_ns),
                     about_bytes(phase.ramp_bytes));
}

bool has_stop(const IoResult& result) {
  return std::any_of(result.phases.begin(), result.phases.end(), [](const auto& phase) { return phase.has_stop; });
}

std::string meanings(const IoResult& result) {
  const IoRequest& request = result.request;
  const bool is_sync_inside =
      !request.no_file && request.operations != IoOperations::read && request.sync == SyncTiming::inside;
  std::string text = fmt::format(
      "  all done: bytes / the time from the {} to the last rank's close{}; the rate to quote\n"
      "  first done: bytes that all had moved when the first rank was done / that time\n"
      "  slowest rank: bytes / the longest I/O time of a rank, without {} contents: storage goes on meanwhile,\n"
      "    so this may be above what it can do\n"
      "  mean rank: bytes / the mean I/O time; transfer: the slowest rank's without open, preallocation, fsync and "
      "close\n"
      "  IOPS: calls / the same time as all done\n",
      request.ramp_time_s > 0 ? "end of the ramp" : "common start", is_sync_inside ? ", fsync inside" : "",
      result.contents_by == ContentsBy::helper ? "waiting for" : "making and checking");
  if (has_stop(result)) text += "  at stop: bytes that were moved when the time limit passed / that time\n";
  return text;
}

}  // namespace

std::string movement_description(const IoRequest& request) {
  std::string text = name_of(request.movement);
  if (request.order == schedule::Order::strided) text += ", strided";
  if (request.block_size_bytes > 0) text += fmt::format(" in blocks of {}", format_bytes(request.block_size_bytes));
  if (request.random_seed > 0) text += fmt::format(", in random order {}", request.random_seed);
  if (request.self_send == schedule::SelfSend::no) text += ", I/O ranks without objects of their own";
  if (request.no_file) text += ", messages only";
  return text;
}

std::string calls_description(const IoRequest& request) {
  std::string text = request.queue_depth > 1 ? std::to_string(request.queue_depth) : name_of(request.calls);
  if (request.collective) text += " collective";
  text += request.queue_depth > 1 ? " calls under way at once (io_uring)" : " calls";
  if (request.barrier) text += ", a barrier before each write";
  if (request.cache_path == storage::CachePath::direct) text += ", round the page cache (O_DIRECT)";
  if (request.cache_path == storage::CachePath::uncached) text += ", nothing left in the page cache (RWF_DONTCACHE)";
  return text;
}

std::string directories_description(std::uint64_t num) {
  return num == 1 ? "1 directory" : fmt::format("{} directories", num);
}

std::string items_description(const IoRequest& request, std::uint64_t num_items) {
  std::string text;
  if (request.items != MetadataItems::files) text = directories_description(num_items);
  if (request.items == MetadataItems::directories) return text;
  text += (text.empty() ? "" : ", then ") + output::counted(num_items, "file");
  return request.object_size_bytes > 0 ? text + " of " + format_bytes(request.object_size_bytes) : text;
}

std::string objects_description(std::uint64_t num_objects, std::uint64_t object_size_bytes) {
  return fmt::format("{} of {}", output::counted(num_objects, "object"), format_bytes(object_size_bytes));
}

std::string io_plan_text(const IoRequest& request, const Plan& plan) {
  return who_takes_part(request, plan) + preset_lines(request, plan) + what_moves(request, plan) +
         io_ranks_line(request, plan) + phases_line(request, plan) + map_table(request, plan) + needs(request, plan);
}

double rate_of(const PhaseSummary& phase) {
  return is_metadata(phase.position.operation) ? phase.operations_per_s : phase.bytes_per_s;
}

std::string per_second(double operations_per_s) {
  if (!std::isfinite(operations_per_s)) return "-";
  return operations_per_s < 1000 ? fmt::format("{:.4g}", operations_per_s) : fmt::format("{:.0f}", operations_per_s);
}

const PhaseSummary* phase_for(const IoResult& result, IoOperation operation) {
  const OperationSummary* const summary = summary_of(result, operation);
  const PhaseSummary* nearest = nullptr;
  const auto distance = [&](const PhaseSummary& phase) {
    if (summary == nullptr) return 0.0;
    return std::abs(rate_of(phase) - (is_metadata(operation) ? summary->operations_per_s.median : summary->median));
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
  return bandwidth_unit(output::middle_of(rates));
}

std::string io_headlines(const IoResult& result) {
  const Unit unit = unit_of_rates(result);
  std::string text;
  for (const IoOperation operation : {IoOperation::write, IoOperation::mix, IoOperation::read}) {
    const OperationSummary* const summary = summary_of(result, operation);
    const PhaseSummary* const phase = phase_for(result, operation);
    if (summary == nullptr || phase == nullptr) continue;
    text += fmt::format("{}: {}\n", name_of(operation), rate_text(*summary, unit)) + ramp_line(*phase);
    if (result.request.no_file) continue;
    if (operation == IoOperation::mix) {
      text += mix_lines(*phase, unit);
      continue;
    }
    text += fmt::format("  {}\n", operation == IoOperation::write ? durability_line(result, *phase)
                                                                  : source_line(result.request, *phase));
  }
  return text;
}

std::string io_metadata_table(const IoResult& result) {
  output::Table table({{"operation", output::Align::left},
                       {"repeat"},
                       {"items"},
                       {"in a second"},
                       {"50 %"},
                       {"99 %"},
                       {"most"},
                       {"last rank", output::Align::left},
                       {"its time"},
                       {"mean"},
                       {"", output::Align::left}});
  const output::HostsOfRanks hosts(result.hosts);
  for (const PhaseSummary& phase : result.phases) {
    if (!is_metadata(phase.position.operation)) continue;
    table.add_row({name_of(phase.position.operation), std::to_string(phase.position.repeat),
                   std::to_string(phase.num_objects), per_second(phase.operations_per_s),
                   format_time_ns(phase.call_ns_p50), format_time_ns(phase.call_ns_p99),
                   format_time_ns(phase.call_ns_max), hosts.with_host(phase.io.max_rank), format_time_ns(phase.io.max),
                   format_time_ns(phase.io.mean), state_word(result, phase)});
  }
  if (!table.has_rows()) return "";
  return "files and directories\n" + table.text() +
         "  in a second: items of all ranks / the longest I/O time of a rank, without contents\n"
         "  50 %, 99 %, most: time of one operation, of all ranks; mean: of ranks, beside that of the last one\n";
}

std::string io_rates_table(const IoResult& result) {
  const auto has_bytes = [](const PhaseSummary& phase) { return !is_metadata(phase.position.operation); };
  if (std::none_of(result.phases.begin(), result.phases.end(), has_bytes)) return "";
  const Unit unit = unit_of_rates(result);
  const bool is_limited = has_stop(result);
  std::vector<output::Column> columns{{"phase", output::Align::left},
                                      {"repeat"},
                                      {"bytes"},
                                      {"all done"},
                                      {"first done"},
                                      {"slowest rank"},
                                      {"mean rank"},
                                      {"transfer"},
                                      {"IOPS"}};
  if (is_limited) columns.push_back({"at stop"});
  columns.push_back({"", output::Align::left});
  output::Table table(std::move(columns));
  for (const PhaseSummary& phase : result.phases) {
    if (!has_bytes(phase)) continue;
    std::vector<std::string> row{name_of(phase.position.operation),
                                 std::to_string(phase.position.repeat),
                                 about_bytes(bytes_of(phase)),
                                 output::in_unit(phase.bytes_per_s, unit),
                                 output::in_unit(phase.bytes_per_s_first_done, unit),
                                 output::in_unit(phase.bytes_per_s_io, unit),
                                 output::in_unit(phase.bytes_per_s_mean, unit),
                                 output::in_unit(phase.bytes_per_s_transfer, unit),
                                 per_second(phase.operations_per_s)};
    if (is_limited) row.push_back(phase.has_stop ? output::in_unit(phase.bytes_per_s_at_stop, unit) : "-");
    row.push_back(state_word(result, phase));
    table.add_row(std::move(row));
  }
  const bool has_rates =
      std::any_of(result.phases.begin(), result.phases.end(), [](const auto& phase) { return phase.is_complete; });
  return fmt::format("rates in {}\n{}{}", unit.name, table.text(), has_rates ? meanings(result) : "");
}

namespace {

constexpr double phase_line_interval_s = 1;

double whole_time_s(const IoRequest& request) { return request.ramp_time_s + request.time_limit_s; }

/// By bytes or, where they are moved again and again, by time.
double share_done(const IoRequest& request, const PhaseProgress& progress) {
  if (request.time_based) return std::min(progress.elapsed_s / whole_time_s(request), 1.0);
  if (progress.bytes_total == 0) return 1;
  return std::min(static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total), 1.0);
}

/// "12.3 MiB", or of metadata "4000 items".
std::string amount_text(const PhasePosition& position, std::uint64_t amount) {
  return is_metadata(position.operation) ? output::counted(amount, "item") : about_bytes(amount);
}

std::string rate_words(const PhasePosition& position, double rate) {
  return is_metadata(position.operation) ? per_second(rate) + " in a second" : format_bandwidth(rate);
}

double rate_so_far(const PhaseProgress& progress) {
  return progress.elapsed_s > 0 ? static_cast<double>(progress.bytes_done) / progress.elapsed_s : 0;
}

/// By bytes, and never longer than the time limit leaves.
double left_s(const IoRequest& request, const PhaseProgress& progress) {
  const double by_time = std::max(whole_time_s(request) - progress.elapsed_s, 0.0);
  if (request.time_based) return by_time;
  if (progress.bytes_done == 0) return request.time_limit_s > 0 ? request.time_limit_s : not_measured;
  const double by_bytes = output::time_left_s(share_done(request, progress), 1, progress.elapsed_s);
  return request.time_limit_s > 0 ? std::min(by_bytes, by_time) : by_bytes;
}

/// "write", "write 2 of 5".
std::string name_of_phase(const IoRequest& request, const PhasePosition& position) {
  const std::string name = name_of(position.operation);
  return request.repeat > 1 ? fmt::format("{} {} of {}", name, position.repeat + 1, request.repeat) : name;
}

/// "write 2 of 5: 512.0 MiB in 0.21 s, 2.345 GiB/s".
std::string end_line(const IoRequest& request, const PhaseSummary& summary) {
  const std::string name = name_of_phase(request, summary.position);
  if (!summary.is_complete) return fmt::format("{}: not complete\n", name);
  const bool has_bytes = !is_metadata(summary.position.operation);
  const std::uint64_t bytes = summary.bytes > 0 ? summary.bytes : summary.message_bytes;
  return fmt::format("{}: {} in {}, {}\n", name, amount_text(summary.position, has_bytes ? bytes : summary.num_objects),
                     output::format_duration(1e-9 * summary.wall_ns), rate_words(summary.position, rate_of(summary)));
}

class IoLineProgress final : public Progress {
 public:
  IoLineProgress(IoRequest request, output::ProgressOutlet outlet)
      : request_(std::move(request)), outlet_(std::move(outlet)) {}

  void phase_begins(const PhasePosition&, std::uint64_t) override {
    next_line_s_ = outlet_.now_s() + phase_line_interval_s;
  }

  void phase_goes_on(const PhaseProgress& progress) override {
    if (outlet_.now_s() < next_line_s_) return;
    outlet_.write(fmt::format("{}: {:>6} of {}, {}, {} left\n", name_of_phase(request_, progress.position),
                              output::percent_text(share_done(request_, progress)),
                              request_.time_based ? output::format_duration(whole_time_s(request_))
                                                  : amount_text(progress.position, progress.bytes_total),
                              rate_words(progress.position, rate_so_far(progress)),
                              output::format_duration(left_s(request_, progress))));
    next_line_s_ = outlet_.now_s() + phase_line_interval_s;
  }

  void phase_ends(const PhaseSummary& summary) override { outlet_.write(end_line(request_, summary)); }

  void waits(const std::string& for_what) override { outlet_.write(for_what + "\n"); }

 private:
  IoRequest request_;
  output::ProgressOutlet outlet_;
  double next_line_s_ = 0;
};

class IoBarProgress final : public Progress {
 public:
  IoBarProgress(IoRequest request, output::ProgressOutlet outlet)
      : request_(std::move(request)), outlet_(outlet), bar_(std::move(outlet)) {}
  ~IoBarProgress() override { bar_.vanish(); }
  IoBarProgress(const IoBarProgress&) = delete;
  IoBarProgress& operator=(const IoBarProgress&) = delete;

  void phase_begins(const PhasePosition& position, std::uint64_t) override {
    bar_.draw(0, name_of_phase(request_, position), "begins");
  }

  void phase_goes_on(const PhaseProgress& progress) override {
    if (!bar_.is_due()) return;
    bar_.draw(share_done(request_, progress), name_of_phase(request_, progress.position),
              fmt::format("{}, {} left, {}", amount_text(progress.position, progress.bytes_done),
                          output::format_duration(left_s(request_, progress)),
                          rate_words(progress.position, rate_so_far(progress))));
  }

  void phase_ends(const PhaseSummary& summary) override {
    bar_.vanish();
    outlet_.write(end_line(request_, summary));
  }

  void waits(const std::string& for_what) override { bar_.draw(0, for_what, "..."); }

 private:
  IoRequest request_;
  output::ProgressOutlet outlet_;
  output::ProgressBar bar_;
};

}  // namespace

std::unique_ptr<Progress> make_io_lines(const IoRequest& request, output::ProgressOutlet outlet) {
  return std::make_unique<IoLineProgress>(request, std::move(outlet));
}

std::unique_ptr<Progress> make_io_bar(const IoRequest& request, output::ProgressOutlet outlet) {
  return std::make_unique<IoBarProgress>(request, std::move(outlet));
}

std::unique_ptr<Progress> make_io_progress(const IoRequest& request) {
  if (request.quiet) return std::make_unique<Progress>();
  if (output::is_redrawable_terminal()) return make_io_bar(request, output::standard_error_outlet());
  return make_io_lines(request, output::standard_error_outlet());
}

namespace {

constexpr std::size_t most_phases_shown = 64, most_files_shown = 4;

std::string movement_text(const Header& header) {
  const bool has_order = header.movement != schedule::name_of(schedule::Movement::n_n);
  return output::line("movement", output::harmless(header.movement + (has_order ? ", " + header.order : "")));
}

std::string objects_text(const Header& header) {
  return output::line("objects",
                      fmt::format("{} a rank, of {}", header.num_objects, format_bytes(header.object_size_bytes)));
}

std::string files_text(const Header& header) {
  std::vector<int> io_ranks(header.io_ranks.begin(), header.io_ranks.end());
  std::ranges::sort(io_ranks);
  std::string text = output::line("I/O ranks", number_ranges(io_ranks));
  text += output::line("backend", output::harmless(header.backend_library));
  text += output::line("file system", output::harmless(header.file_system));
  const std::size_t num_shown = std::min(header.files.size(), most_files_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    text += output::line(index == 0 ? "files" : "", output::harmless(header.files[index]));
  }
  if (header.files.size() > num_shown)
    text += output::line("", fmt::format("and {} more", header.files.size() - num_shown));
  return text;
}

/// What makes a phase's rate worth more or less; without files there is no cache and no storage.
std::string remarks_on(const KeptPhase& phase, const Header& header) {
  std::string remarks;
  if (!phase.is_complete) remarks = (phase.is_interrupted ? "" : "failed: ") + output::harmless(phase.error);
  const auto add = [&](const std::string& remark) { remarks += (remarks.empty() ? "" : "; ") + remark; };
  if (phase.num_mismatches > 0) add(output::counted(phase.num_mismatches, "wrong object"));
  if (header.files.empty() || is_metadata(phase.operation)) return remarks;
  if (phase.source)
    add(*phase.source == "not_known" ? "from where is not known" : "from " + output::harmless(*phase.source));
  if (phase.is_durable) add(*phase.is_durable ? "durable" : "not durable");
  return remarks;
}

/// The rates of all phases go in one unit.
Unit unit_of_phase_rates(const std::vector<KeptPhase>& phases) {
  std::vector<double> rates;
  for (const KeptPhase& phase : phases) rates.push_back(phase.bytes_per_s);
  return bandwidth_unit(output::middle_of(rates));
}

std::string phase_table(const std::vector<KeptPhase>& phases, const Header& header) {
  if (phases.empty()) return "\n  No phase was measured.\n";
  const Unit unit = unit_of_phase_rates(phases);
  output::Table table({{"operation", output::Align::left},
                       {"repeat"},
                       {"bytes"},
                       {unit.name},
                       {"slowest rank"},
                       {"in a second"},
                       {"time"},
                       {"", output::Align::left}});
  const std::size_t num_shown = std::min(phases.size(), most_phases_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    const KeptPhase& phase = phases[index];
    table.add_row({name_of(phase.operation), std::to_string(phase.repeat), about_bytes(phase.bytes),
                   output::in_unit(phase.bytes_per_s, unit), output::in_unit(phase.bytes_per_s_io, unit),
                   per_second(phase.operations_per_s), format_time_ns(phase.wall_ns), remarks_on(phase, header)});
  }
  std::string text = "\n" + table.text();
  if (phases.size() > num_shown) text += fmt::format("  and {} more\n", phases.size() - num_shown);
  if (std::ranges::any_of(phases, &KeptPhase::is_of_earlier_version)) {
    text +=
        "  Of an earlier version, whose headline was that of the slowest rank. The time has making and checking "
        "contents "
        "in it.\n";
  }
  return text;
}

Json phase_json(const KeptPhase& phase) {
  Json json = {{"operation", name_of(phase.operation)}, {"repeat", phase.repeat}, {"is_complete", phase.is_complete}};
  result::add_fields(json, phase);
  return json;
}

}  // namespace

output::ResultInfo info_of(const Hdf5Reader& reader) {
  const Header& header = reader.header();
  const std::vector<HostRanks> hosts = output::hosts_of(reader);
  const std::vector<KeptPhase> phases = kept_phases(reader);
  std::string text = output::line("result", fmt::format("parallel file test, format {}", header.format_version));
  text += output::run_text(header) + output::ranks_text(header, hosts);
  text += movement_text(header) + objects_text(header) + files_text(header);
  text +=
      output::line("phases", fmt::format("{} of {}", phases.size(), header.num_phases)) + phase_table(phases, header);

  Json json = output::run_json("io", header);
  result::add_fields(json, header);
  json["num_phases"] = header.num_phases;
  output::add_origin(json, header, hosts);
  json["phases"] = Json::array();
  for (const KeptPhase& phase : phases) json["phases"].push_back(phase_json(phase));
  return {text, json};
}

}  // namespace leadline::bench::io
