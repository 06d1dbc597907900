// SPDX-License-Identifier: Apache-2.0
// Descriptions of a request that plan and summary share, and what --dry-run prints of a parallel file test.
#include "output/io_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

using schedule::FileLayout;

constexpr std::size_t most_ranks_shown = 32;
constexpr std::size_t most_io_ranks_listed = 16;

std::uint64_t num_hosts(const bench::io::Plan& plan) {
  const auto& host_of = plan.rank_layout.host_of;
  return host_of.empty() ? 1 : std::uint64_t{1} + *std::max_element(host_of.begin(), host_of.end());
}

std::string who_takes_part(const IoRequest& request, const bench::io::Plan& plan) {
  return fmt::format("Parallel file test of {} on {}: {}\n",
                     counted(static_cast<std::uint64_t>(plan.rank_layout.num_ranks), "rank"),
                     counted(num_hosts(plan), "host"), movement_description(request));
}

std::string what_moves(const IoRequest& request, const bench::io::Plan& plan) {
  const std::uint64_t all_bytes = plan.layout.total_objects() * request.object_size_bytes;
  std::string text =
      fmt::format("Data: {} a rank{}, {} in all\n", objects_description(plan.num_objects, request.object_size_bytes),
                  request.time_limit_s > 0 ? " at most" : "", about_bytes(all_bytes));
  if (!request.no_file) {
    text += fmt::format("Files: {}; {}\n", plan.layout.num_files(), calls_description(request));
  }
  return text;
}

std::string io_ranks_line(const IoRequest& request, const bench::io::Plan& plan) {
  if (!schedule::is_funnel(request.movement)) return "";
  const std::vector<std::int32_t>& ranks = plan.layout.io_ranks().ranks;
  std::string list;
  for (std::size_t index = 0; index < std::min(ranks.size(), most_io_ranks_listed); ++index) {
    list += fmt::format("{}{}", index == 0 ? "" : ", ", ranks[index]);
  }
  if (ranks.size() > most_io_ranks_listed) list += fmt::format(" ... {}", ranks.back());
  return fmt::format("I/O ranks: {} ({}), each with {} of {}\n", ranks.size(), list,
                     counted(static_cast<std::uint64_t>(plan.num_buffers), "buffer"),
                     format_bytes(plan.buffer_size_bytes));
}

std::string phases_line(const IoRequest& request, const bench::io::Plan& plan) {
  std::string text = "Phases:";
  const std::size_t in_one = plan.phases.size() / static_cast<std::size_t>(std::max(request.repeat, 1));
  for (std::size_t index = 0; index < in_one; ++index) {
    text += fmt::format("{} {}", index == 0 ? "" : ",", name_of(plan.phases[index].operation));
  }
  if (request.repeat > 1) text += fmt::format("; {} times", request.repeat);
  if (request.time_limit_s > 0) text += fmt::format("; {} each at most", format_duration(request.time_limit_s));
  const bool is_synced = !request.no_file && request.operations != IoOperations::read;
  if (is_synced && request.sync != SyncTiming::none) {
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
  if (step == size) return fmt::format("{} to {}", format_bytes(first), format_bytes(last + size));
  return fmt::format("{} to {}, every {}", format_bytes(first), format_bytes(last + size), format_bytes(step));
}

/// The name with the rank, or the file's number, in it; host and process are known only in a run.
std::string name_of_file(const IoRequest& request, const bench::io::Plan& plan, std::int32_t file,
                         std::int32_t opener) {
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

std::string map_table(const IoRequest& request, const bench::io::Plan& plan) {
  const FileLayout& layout = plan.layout;
  const bool is_funnel = schedule::is_funnel(request.movement);
  std::vector<Column> columns{{"rank"}};
  if (is_funnel) columns.push_back({"I/O rank"});
  if (!request.no_file) columns.insert(columns.end(), {{"file"}, {"name", Align::left}, {"bytes", Align::left}});
  if (columns.size() == 1) return "";
  Table table(std::move(columns));
  for (const std::size_t index : evenly_chosen(static_cast<std::size_t>(layout.num_ranks()), most_ranks_shown)) {
    const int rank = static_cast<int>(index);
    std::vector<std::string> row{std::to_string(rank)};
    if (is_funnel) row.push_back(std::to_string(layout.opener_of(rank)));
    if (!request.no_file) {
      const std::int32_t file = layout.file_of(rank);
      row.insert(row.end(), {std::to_string(file), name_of_file(request, plan, file, layout.opener_of(rank)),
                             layout.contributes(rank) ? region_of(layout, rank, plan.num_objects) : "nothing"});
    }
    table.add_row(std::move(row));
  }
  std::string text = "Map:\n" + table.text();
  if (static_cast<std::size_t>(layout.num_ranks()) > most_ranks_shown) {
    text += fmt::format("  of {} ranks {} are shown\n", layout.num_ranks(), most_ranks_shown);
  }
  return text;
}

std::string needs(const IoRequest& request, const bench::io::Plan& plan) {
  const bench::io::Estimate& estimate = plan.estimate;
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

}  // namespace

std::string movement_description(const IoRequest& request) {
  std::string text = name_of(request.movement);
  if (request.order == schedule::Order::strided) text += ", strided";
  if (request.self_send == schedule::SelfSend::no) text += ", I/O ranks without objects of their own";
  if (request.no_file) text += ", messages only";
  return text;
}

std::string calls_description(const IoRequest& request) {
  std::string text = name_of(request.calls);
  if (request.collective) text += " collective";
  text += " calls";
  if (request.barrier) text += ", a barrier before each write";
  if (request.cache_path == CachePath::direct) text += ", round the page cache (O_DIRECT)";
  if (request.cache_path == CachePath::uncached) text += ", nothing left in the page cache (RWF_DONTCACHE)";
  return text;
}

std::string objects_description(std::uint64_t num_objects, std::uint64_t object_size_bytes) {
  return fmt::format("{} of {}", counted(num_objects, "object"), format_bytes(object_size_bytes));
}

std::string io_plan_text(const IoRequest& request, const bench::io::Plan& plan) {
  return who_takes_part(request, plan) + what_moves(request, plan) + io_ranks_line(request, plan) +
         phases_line(request, plan) + map_table(request, plan) + needs(request, plan);
}

}  // namespace leadline::output
