// SPDX-License-Identifier: Apache-2.0
// Reads SION files and sets of them, trusting no number in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "result/sion/container/layout.hpp"

namespace leadline::result::sion {

class InputFile {
 public:
  InputFile() = default;
  /// Throws Error naming the path: bad_command_line (no such file, no regular file), something_missing (no permission),
  /// run_failed (anything else). Never blocks on a pipe or device.
  explicit InputFile(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::string& path() const { return path_; }
  /// As of opening.
  std::int64_t size_bytes() const { return size_bytes_; }

  /// Up to into.size() bytes from there, fewer only at the end of the file. Throws Error(run_failed) on a read error.
  std::size_t read_at(std::int64_t offset, std::span<char> into) const;

  /// Whether that much of the file is on the disk and not a hole. True where the file system cannot tell holes.
  bool stores_at_least(std::int64_t size) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::int64_t size_bytes_ = 0;
};

/// What to do with a file whose writer did not come to its end (it has no META2, so that the used size is unknown).
enum class Unfinished : std::uint8_t {
  refuse,
  salvage,  ///< read it: each task has its chunk of the first round, as far as the file goes, whatever is in it
};

/// Two things that the format allows and no result of a sound run has: a task without any block, and a mapping whose
/// entries are not in the order of global ranks.
enum class Strictness : std::uint8_t { tolerant, strict };

struct OpenOptions {
  Unfinished unfinished = Unfinished::refuse;
  Strictness strictness = Strictness::tolerant;
};

/// An open file, or a whole set opened by its file 0 ("x.sion"; the others are "x.sion.000001", ...: found from the
/// path given here, never from names inside). A member other than file 0 opened alone shows its own tasks. Formats 3 to
/// 5, either byte order. Not for use by several threads at once.
///
/// Errors, all Error naming the file: bad_command_line (no such file, a directory), something_missing (no permission),
/// run_failed for everything inside, with "damaged SION file, CODE: what" or "unfinished SION file, UNCLOSED: ..." as
/// the reason. CODE is one of TRUNCATED MAGIC ENDIAN FORMAT FSBLK NTASKS LIMIT NFILES FILENO KEYVAL CHUNKSIZE
/// OVERFLOW UNCLOSED MAXCHUNKS META2POS BLOCKCOUNT BLOCKSIZE MAPPING SET KVRECORD RANKS; docs/formats/sion.md explains
/// them.
///
/// Memory for metadata: at most twelve times what the files really have on the disk (holes do not count), plus 1 MiB a
/// file. Contents are streamed; content() gives nothing that is larger than four times what the file has on the disk,
/// or 256 KiB.
class Reader {
 public:
  static Reader open(const std::string& path, OpenOptions options = {});

  const std::string& path() const { return path_; }

  /// True where a file of it was not closed; only with Unfinished::salvage.
  bool is_unfinished() const;

  /// True where this is one member of a set, opened alone: it has a part of the tasks only.
  bool is_part_of_set() const { return files_.front().layout.num_files > 1 && files_.front().layout.file_number > 0; }

  /// Tasks of the set in the order of its mapping, or of the one file.
  std::int64_t num_tasks() const { return static_cast<std::int64_t>(locations_.size()); }
  std::int64_t global_rank(std::int64_t task) const;

  /// Bytes of a task: all its blocks together. (Salvaged: room that the file has for it.)
  std::int64_t size_bytes(std::int64_t task) const;

  ByteOrder metadata_order() const { return files_.front().layout.metadata_order; }
  ByteOrder payload_order() const { return files_.front().layout.payload_order; }
  /// Whether the file declares that contents are key-value records; see KeyValueRecords.
  bool has_key_value_records() const { return files_.front().layout.key_value_mode == KeyValueMode::inline_records; }

  /// Fills `into` with the bytes of a task from `offset` on; returns how many there were, fewer only at the task's end.
  /// Throws Error(run_failed) with TRUNCATED where the file has shrunk meanwhile.
  std::size_t read(std::int64_t task, std::int64_t offset, std::span<char> into);

  /// A task's bytes, all of them; throws with LIMIT where there are more than `max_bytes`, or far more than the disk
  /// has.
  std::string content(std::int64_t task, std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());

  /// Throws with RANKS unless all global ranks differ and none is negative, as in every result.
  void expect_distinct_ranks() const;

  /// One physical file.
  struct File {
    std::string path;
    Layout layout;
    Geometry geometry;
    std::vector<std::int64_t> content_bytes;  ///< [task]: all its blocks together
    std::int64_t size_bytes = 0;              ///< of the physical file, with its holes
  };
  /// All physical files, in the order of their numbers; one where a single file or a member was opened.
  std::span<const File> files() const { return files_; }

 private:
  Reader() = default;

  /// How far the last read came, so that reading on does not start at the first block again.
  struct Position {
    std::int64_t task = 0, round = 0;
    std::int64_t block_begin = 0;  // offset in the task's content
  };

  void open_members(OpenOptions options);
  void place_tasks(Strictness strictness);
  InputFile& input(std::int32_t file_number);
  void seek(std::int64_t task, std::int64_t offset);
  std::int64_t block_bytes(std::int64_t task, std::int64_t round) const;  // -1 behind the last block

  std::string path_;
  std::vector<File> files_;
  std::vector<TaskLocation> locations_;  // file_number is an index into files_
  // Only one file is open at a time: sets may have more files than a process may open.
  InputFile open_file_;
  std::int32_t open_file_index_ = -1;
  Position position_;
};

/// "cannot read 'PATH' (damaged SION file, CODE: detail)".
Error damaged(const std::string& path, const Problem& problem);

/// A record's value is bytes [value_offset, value_offset + value_bytes) of the task's content (Reader::read).
struct KeyValueRecord {
  std::uint64_t key = 0;
  std::int64_t value_offset = 0;
  std::int64_t value_bytes = 0;
};

inline constexpr std::int64_t key_value_header_bytes = 16;

/// Walks over the records of a task in file order; keys may repeat. The reader must outlive it.
class KeyValueRecords {
 public:
  KeyValueRecords(Reader& reader, std::int64_t task) : reader_(&reader), task_(task) {}

  /// The next record; nothing at the end. Throws with KVRECORD where a header is cut, or its value leaves the content.
  std::optional<KeyValueRecord> next();

 private:
  Reader* reader_;
  std::int64_t task_;
  std::int64_t offset_ = 0;
};

}  // namespace leadline::result::sion
