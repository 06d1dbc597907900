// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the SION container in 64 bits, each step checked, and the two layouts that Leadline writes.
#include "result/sion/container/layout.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/error.hpp"

namespace leadline::result::sion {
namespace {

/// a + b, or false where 64 bits do not hold it.
bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) { return !__builtin_add_overflow(a, b, &sum); }
bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) { return !__builtin_mul_overflow(a, b, &product); }

bool round_up(std::int64_t value, std::int64_t step, std::int64_t& rounded) {
  const std::int64_t beyond = value % step;
  return add(value, beyond == 0 ? 0 : step - beyond, rounded);
}

std::string number(std::int64_t value) { return std::to_string(value); }

/// Formats up to 3 stored what was asked for; the file has it rounded up.
constexpr std::int32_t last_format_with_asked_sizes = 3;

Layout sized_layout(std::span<const TaskSize> tasks, std::string prefix) {
  assert(!tasks.empty());
  Layout layout;
  layout.prefix = std::move(prefix);
  for (const TaskSize& task : tasks) {
    layout.global_ranks.push_back(task.global_rank);
    layout.chunk_size_bytes.push_back(task.size_bytes);
    layout.used_bytes.push_back(task.size_bytes);
  }
  layout.num_blocks.assign(tasks.size(), 1);
  layout.num_rounds = 1;
  return layout;
}

Error too_large(const std::string& why) {
  return Error(ExitStatus::run_failed, "the result is too large for a SION file", why);
}

/// Sets meta2_offset for one round.
void close(Layout& layout) {
  Problem problem;
  const std::optional<Geometry> geometry = geometry_of(layout, problem);
  if (!geometry) throw too_large(problem.detail);
  if (!add(geometry->data_offset, geometry->round_bytes, layout.meta2_offset)) {
    throw too_large("the chunks leave 64 bits");
  }
}

}  // namespace

std::int64_t meta1_bytes(std::int64_t num_tasks) { return end_mark_offset(num_tasks) + end_mark_bytes; }

std::int64_t end_mark_offset(std::int64_t num_tasks) { return fixed_header_bytes + 16 * num_tasks; }

std::int64_t meta2_bytes(std::int64_t num_tasks, std::int64_t num_rounds) { return 8 * num_tasks * (1 + num_rounds); }

std::optional<Problem> header_problem(const Layout& layout) {
  if (layout.block_size_bytes < 1) return Problem{"FSBLK", "a block size of " + number(layout.block_size_bytes)};
  if (layout.num_files < 1 || layout.num_files > max_num_files) {
    return Problem{"NFILES", "a set of " + number(layout.num_files) + " files"};
  }
  const std::int32_t max_file_number = layout.num_files == 1 ? 1 : layout.num_files - 1;
  if (layout.file_number < 0 || layout.file_number > max_file_number) {
    return Problem{"FILENO", "file number " + number(layout.file_number) + " in a set of " + number(layout.num_files)};
  }
  switch (layout.key_value_mode) {
    case KeyValueMode::unset:
    case KeyValueMode::none:
    case KeyValueMode::inline_records:
      return std::nullopt;
  }
  return Problem{"KEYVAL", "key-value mode " + number(static_cast<std::int32_t>(layout.key_value_mode))};
}

std::optional<Geometry> geometry_of(const Layout& layout, Problem& problem) {
  const std::int64_t block_size = layout.block_size_bytes;
  Geometry geometry;
  if (!round_up(meta1_bytes(layout.num_tasks()), block_size, geometry.data_offset)) {
    problem = {"OVERFLOW", "the start of the data leaves 64 bits"};
    return std::nullopt;
  }
  geometry.chunk_start_bytes.reserve(layout.chunk_size_bytes.size());
  geometry.chunk_room_bytes.reserve(layout.chunk_size_bytes.size());
  const bool is_rounded = layout.format_version <= last_format_with_asked_sizes;
  for (std::size_t task = 0; task < layout.chunk_size_bytes.size(); ++task) {
    std::int64_t room = layout.chunk_size_bytes[task];
    if (room < 0) {
      problem = {"CHUNKSIZE", "task " + std::to_string(task) + " has a chunk of " + number(room) + " bytes"};
      return std::nullopt;
    }
    geometry.chunk_start_bytes.push_back(geometry.round_bytes);
    if ((is_rounded && !round_up(room, block_size, room)) || !add(geometry.round_bytes, room, geometry.round_bytes)) {
      problem = {"OVERFLOW", "the chunks up to task " + std::to_string(task) + " leave 64 bits"};
      return std::nullopt;
    }
    geometry.chunk_room_bytes.push_back(room);
  }
  return geometry;
}

std::optional<Problem> end_mark_problem(const Layout& layout, const Geometry& geometry) {
  if (!layout.is_closed()) return Problem{"UNCLOSED", "its writer did not come to the end"};
  if (layout.num_rounds < 1) return Problem{"MAXCHUNKS", number(layout.num_rounds) + " rounds of chunks"};
  std::int64_t offset = 0;
  if (!multiply(geometry.round_bytes, layout.num_rounds, offset) || !add(offset, geometry.data_offset, offset)) {
    return Problem{"META2POS", number(layout.num_rounds) + " rounds of chunks leave 64 bits"};
  }
  if (layout.meta2_offset == offset) return std::nullopt;
  return Problem{"META2POS", "the second metadata block is said to be at " + number(layout.meta2_offset) +
                                 ", but the chunks end at " + number(offset)};
}

std::optional<Problem> usage_problem(const Layout& layout, const Geometry& geometry) {
  std::int64_t max_blocks = 0;
  const auto num_tasks = static_cast<std::size_t>(layout.num_tasks());
  for (std::size_t task = 0; task < num_tasks; ++task) {
    const std::int64_t num_blocks = layout.num_blocks[task];
    if (num_blocks < 0 || num_blocks > layout.num_rounds) {
      return Problem{"BLOCKCOUNT", "task " + std::to_string(task) + " has " + number(num_blocks) + " blocks in " +
                                       number(layout.num_rounds) + " rounds"};
    }
    max_blocks = std::max(max_blocks, num_blocks);
  }
  if (max_blocks != layout.num_rounds) {
    return Problem{"BLOCKCOUNT", "no task has blocks in all " + number(layout.num_rounds) + " rounds"};
  }
  for (std::size_t entry = 0; entry < layout.used_bytes.size(); ++entry) {
    const std::size_t task = entry % num_tasks;
    if (static_cast<std::int64_t>(entry / num_tasks) >= layout.num_blocks[task]) continue;
    const std::int64_t used = layout.used_bytes[entry];
    if (used < 0 || used > geometry.chunk_room_bytes[task]) {
      return Problem{"BLOCKSIZE", "task " + std::to_string(task) + " uses " + number(used) + " bytes of a chunk of " +
                                      number(geometry.chunk_room_bytes[task])};
    }
  }
  return std::nullopt;
}

std::optional<Problem> problem_of(const Layout& layout) {
  if (layout.num_tasks() < 1) return Problem{"NTASKS", "no tasks"};
  if (auto problem = header_problem(layout)) return problem;
  Problem problem;
  const std::optional<Geometry> geometry = geometry_of(layout, problem);
  if (!geometry) return problem;
  if (auto found = end_mark_problem(layout, *geometry)) return found;
  return usage_problem(layout, *geometry);
}

Layout collective_layout(std::span<const TaskSize> tasks, std::int32_t block_size_bytes, std::string prefix) {
  Layout layout = sized_layout(tasks, std::move(prefix));
  layout.block_size_bytes = block_size_bytes;
  std::int64_t group_bytes = 0, group_room = 0;
  for (const TaskSize& task : tasks) {
    if (!add(group_bytes, task.size_bytes, group_bytes)) throw too_large("the tasks' bytes leave 64 bits");
  }
  if (!round_up(group_bytes, block_size_bytes, group_room)) throw too_large("the tasks' bytes leave 64 bits");
  layout.chunk_size_bytes.back() += group_room - group_bytes;
  close(layout);
  return layout;
}

Layout dense_layout(std::span<const TaskSize> tasks, std::string prefix) {
  Layout layout = sized_layout(tasks, std::move(prefix));
  layout.block_size_bytes = 1;
  layout.file_number = 1;
  layout.tail = Tail::empty_mapping;
  close(layout);
  return layout;
}

std::string prefix_for(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == std::string::npos ? 0 : slash + 1).substr(0, prefix_bytes - 1);
}

}  // namespace leadline::result::sion
