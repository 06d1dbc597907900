// SPDX-License-Identifier: Apache-2.0
// What one physical SION file says about itself, as plain data, and the rules that its numbers obey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result/sion/container/byte_order.hpp"

namespace leadline::result::sion {

// docs/formats/sion.md has the container in bytes. Its terms: a *task* is one logical file (one rank); a *chunk* is the
// room of a task in a *round*; the first metadata block (META1) is at offset 0, the second (META2) behind the data.

inline constexpr std::int32_t current_format_version = 5;
inline constexpr std::int64_t fixed_header_bytes = 1076;  ///< META1 up to its tables
inline constexpr std::int64_t prefix_bytes = 1024;
inline constexpr std::int64_t end_mark_bytes = 12;  ///< number of rounds and place of META2, at the end of META1

/// More than any machine has ranks; 256 MiB of tables.
inline constexpr std::int64_t max_num_tasks = std::int64_t{1} << 24;
/// File names have six digits.
inline constexpr std::int32_t max_num_files = 1'000'000;

/// What a task's bytes are. `unset` is read as `none`.
enum class KeyValueMode : std::int32_t { unset = 0, none = 50, inline_records = 51 };

/// What stands behind META2.
enum class Tail : std::uint8_t {
  nothing,        ///< as the MPI interface leaves a single file
  empty_mapping,  ///< four zero bytes, as the serial interface and siondefrag write
  mapping,        ///< the table of a set, in its file 0
};

/// Where a task of a set is: entry g of the mapping belongs to global task g.
struct TaskLocation {
  std::int32_t file_number = 0;
  std::int32_t local_task = 0;

  friend bool operator==(const TaskLocation&, const TaskLocation&) = default;
};

/// META1, META2 and mapping of one physical file, as stored. The number of tasks is the size of `global_ranks`.
struct Layout {
  ByteOrder metadata_order = host_byte_order;
  ByteOrder payload_order = host_byte_order;  ///< declared only; nobody swaps a payload
  std::int32_t library_version = 1007;        ///< 1000 * major + minor of the SIONlib release whose format this is
  std::int32_t library_patch_level = 6;
  std::int32_t format_version = current_format_version;
  std::int32_t block_size_bytes = 1;  ///< of the file system, as the writer saw it; aligns the start of the data
  std::int32_t num_files = 1;         ///< physical files in the set
  std::int32_t file_number = 0;       ///< in the set; of a single file 0 (MPI interface) or 1 (serial interface)
  KeyValueMode key_value_mode = KeyValueMode::none;
  std::string prefix;                          ///< name given when written: informative, untrusted, up to 1024 bytes
  std::vector<std::int64_t> global_ranks;      ///< [task]
  std::vector<std::int64_t> chunk_size_bytes;  ///< [task]; in format 3 those asked for, see chunk_room()
  std::int32_t num_rounds = 0;                 ///< 0 = not closed yet
  std::int64_t meta2_offset = 0;               ///< 0 = not closed yet
  std::vector<std::int64_t> num_blocks;        ///< [task]: in how many rounds it has bytes
  std::vector<std::int64_t> used_bytes;        ///< [round * num_tasks + task]; no meaning from num_blocks[task] on
  Tail tail = Tail::nothing;
  std::vector<TaskLocation> mapping;  ///< of Tail::mapping

  std::int64_t num_tasks() const { return static_cast<std::int64_t>(global_ranks.size()); }
  bool is_closed() const { return num_rounds != 0 || meta2_offset != 0; }

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Where things are; all of it follows from block size, chunk sizes and format.
struct Geometry {
  std::int64_t data_offset = 0;                 ///< chunk of task 0 in round 0
  std::int64_t round_bytes = 0;                 ///< sum of all chunks: from one round to the next
  std::vector<std::int64_t> chunk_start_bytes;  ///< [task], from the start of its round
  std::vector<std::int64_t> chunk_room_bytes;   ///< [task]

  /// First byte of a task's chunk in a round. The caller has checked that the round ends within 64 bits.
  std::int64_t chunk_offset(std::int64_t task, std::int64_t round) const {
    return data_offset + round * round_bytes + chunk_start_bytes[static_cast<std::size_t>(task)];
  }
};

/// A rule that is broken: a stable word ("META2POS", ...; docs/formats/sion.md lists them) and what was found.
struct Problem {
  std::string_view code;
  std::string detail;
};

/// Bytes of META1; where its last 12 bytes (the end mark) are; bytes of META2 without a tail. num_tasks and num_rounds
/// within their limits.
std::int64_t meta1_bytes(std::int64_t num_tasks);
std::int64_t end_mark_offset(std::int64_t num_tasks);
std::int64_t meta2_bytes(std::int64_t num_tasks, std::int64_t num_rounds);

/// Pure. What is wrong with the numbers of META1 before its tables: block size, files, file number.
std::optional<Problem> header_problem(const Layout& layout);

/// Pure. Places everything; nothing and `problem` where a chunk size is negative or the sum leaves 64 bits. Needs a
/// sound header.
std::optional<Geometry> geometry_of(const Layout& layout, Problem& problem);

/// Pure. What is wrong with number of rounds and place of META2.
std::optional<Problem> end_mark_problem(const Layout& layout, const Geometry& geometry);

/// Pure. What is wrong with META2. Block count 0 counts as an empty task.
std::optional<Problem> usage_problem(const Layout& layout, const Geometry& geometry);

/// Pure. The first thing that is wrong with a closed layout, in the order in which a reader looks.
std::optional<Problem> problem_of(const Layout& layout);

/// One task's bytes, for the layouts below.
struct TaskSize {
  std::int64_t global_rank = 0;
  std::int64_t size_bytes = 0;
};

/// Pure. The form of one SIONlib file written with `collective` by one group of tasks, as LinkTest 1.2 has it: one
/// block a task, chunks packed without alignment, the last one enlarged so that META2 begins at a multiple of the block
/// size; file number 0, nothing behind META2. Closed: num_rounds and meta2_offset are set. At least one task; throws
/// Error(run_failed) if the offsets leave 64 bits.
Layout collective_layout(std::span<const TaskSize> tasks, std::int32_t block_size_bytes, std::string prefix);

/// Pure. The dense form that `siondefrag -q 1` makes: block size 1, one block a task, file number 1, an empty mapping.
/// Closed. At least one task; throws Error(run_failed) if the offsets leave 64 bits.
Layout dense_layout(std::span<const TaskSize> tasks, std::string prefix);

/// A prefix that fits and discloses no folders: the last part of a path, at most 1023 bytes.
std::string prefix_for(const std::string& path);

}  // namespace leadline::result::sion
