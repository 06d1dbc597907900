// SPDX-License-Identifier: Apache-2.0
// Opens the files of a set, checks that they belong together, and finds a task's bytes in their blocks.
#include "result/sion/container/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "result/sion/container/encoding.hpp"

namespace leadline::result::sion {
namespace {

Error cannot_read(const std::string& path, int error_number) {
  ExitStatus status = ExitStatus::run_failed;
  if (error_number == ENOENT || error_number == EISDIR || error_number == ENOTDIR) {
    status = ExitStatus::bad_command_line;
  } else if (error_number == EACCES || error_number == EPERM) {
    status = ExitStatus::something_missing;
  }
  return Error(status, "cannot read '" + path + "'", system_error_text(error_number));
}

int opened(const std::string& path) {
  // Without O_NONBLOCK opening a pipe would block until a process writes into it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw cannot_read(path, errno);
  return fd;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path), fd_(opened(path)) {
  struct stat status {};
  int problem = ::fstat(fd_, &status) != 0 ? errno : 0;
  if (problem == 0 && S_ISDIR(status.st_mode)) problem = EISDIR;
  const bool is_usable = problem == 0 && S_ISREG(status.st_mode);
  if (!is_usable) ::close(std::exchange(fd_, -1));
  if (problem != 0) throw cannot_read(path, problem);
  if (!is_usable) throw Error(ExitStatus::bad_command_line, "cannot read '" + path + "'", "it is no regular file");
  size_bytes_ = status.st_size;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_bytes_(other.size_bytes_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::size_t InputFile::read_at(std::int64_t offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const off_t from = static_cast<off_t>(offset) + static_cast<off_t>(done);
    const ssize_t got = ::pread(fd_, into.data() + done, into.size() - done, from);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannot_read(path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool InputFile::stores_at_least(std::int64_t size) const {
  std::int64_t stored = 0, offset = 0;
  while (stored < size) {
    const off_t data = ::lseek(fd_, offset, SEEK_DATA);
    if (data < 0) return errno != ENXIO;  // ENXIO: none from here on; anything else: this file system does not say
    const off_t hole = ::lseek(fd_, data, SEEK_HOLE);
    if (hole <= data) return true;
    stored += hole - data;
    offset = hole;
  }
  return true;
}

namespace {

std::string member_path(const std::string& path, std::int32_t file_number) {
  std::array<char, 16> suffix{};
  (void)std::snprintf(suffix.data(), suffix.size(), ".%06d", static_cast<int>(file_number));
  return path + suffix.data();
}

/// A member that is missing is damage to the set that the user named, which is there.
InputFile opened_member(const std::string& path, const std::string& set_path) {
  try {
    return InputFile(path);
  } catch (const Error& error) {
    const ExitStatus status = error.status() == ExitStatus::bad_command_line ? ExitStatus::run_failed : error.status();
    throw Error(status, error.problem(), error.why(), "It is part of the set that begins with '" + set_path + "'");
  }
}

std::optional<Problem> member_problem(const Layout& first, const Layout& member, std::int32_t file_number) {
  const auto differs = [](std::string what) { return Problem{"SET", "its " + std::move(what)}; };
  if (member.num_files != first.num_files) return differs("number of files is not that of file 0");
  if (member.file_number != file_number) {
    return differs("file number is " + std::to_string(member.file_number) + ", not " + std::to_string(file_number));
  }
  if (member.metadata_order != first.metadata_order || member.payload_order != first.payload_order) {
    return differs("byte order is not that of file 0");
  }
  if (member.format_version != first.format_version) return differs("format version is not that of file 0");
  const auto has_records = [](const Layout& layout) { return layout.key_value_mode == KeyValueMode::inline_records; };
  if (has_records(member) != has_records(first)) return differs("key-value mode is not that of file 0");
  return std::nullopt;
}

std::string kind_of_problem(std::string_view code) {
  if (code == "MAGIC") return "not a SION file";
  if (code == "UNCLOSED") return "unfinished SION file";
  if (code == "FORMAT") return "unknown SION file";
  return "damaged SION file";
}

}  // namespace

Error damaged(const std::string& path, const Problem& problem) {
  std::string hint;
  if (problem.code == "UNCLOSED") hint = "Was the run stopped?";
  if (problem.code == "TRUNCATED") hint = "Copy it again; was the disk full?";
  const std::string kind = kind_of_problem(problem.code);
  return Error(ExitStatus::run_failed, "cannot read '" + path + "'",
               kind + ", " + std::string(problem.code) + ": " + problem.detail, hint);
}

Reader Reader::open(const std::string& path, OpenOptions options) {
  Reader reader;
  reader.path_ = path;
  reader.open_file_ = InputFile(path);
  reader.open_file_index_ = 0;
  reader.files_.push_back(decode_file(reader.open_file_, options));
  const Layout& first = reader.files_.front().layout;
  if (first.num_files > 1 && first.file_number == 0) reader.open_members(options);
  reader.place_tasks(options.strictness);
  return reader;
}

void Reader::open_members(OpenOptions options) {
  const std::int32_t num_files = files_.front().layout.num_files;
  for (std::int32_t number = 1; number < num_files; ++number) {
    open_file_ = opened_member(member_path(path_, number), path_);
    open_file_index_ = number;
    files_.push_back(decode_file(open_file_, options));
    const auto problem = member_problem(files_.front().layout, files_.back().layout, number);
    if (problem) throw damaged(files_.back().path, *problem);
  }
}

void Reader::place_tasks(Strictness strictness) {
  const std::vector<TaskLocation>& mapping = files_.front().layout.mapping;
  if (mapping.empty()) {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      const auto num_tasks = static_cast<std::int32_t>(files_[file].layout.num_tasks());
      locations_.reserve(locations_.size() + static_cast<std::size_t>(num_tasks));
      for (std::int32_t task = 0; task < num_tasks; ++task) {
        locations_.push_back({static_cast<std::int32_t>(file), task});
      }
    }
    return;
  }
  const auto fail = [this](std::size_t entry, const char* what) {
    throw damaged(path_, {"MAPPING", "entry " + std::to_string(entry) + " " + what});
  };
  std::vector<std::vector<bool>> is_taken;
  for (const File& file : files_) is_taken.emplace_back(static_cast<std::size_t>(file.layout.num_tasks()));
  for (std::size_t entry = 0; entry < mapping.size(); ++entry) {
    const auto file = static_cast<std::size_t>(mapping[entry].file_number);
    const auto task = static_cast<std::size_t>(mapping[entry].local_task);
    if (mapping[entry].file_number < 0 || file >= files_.size()) fail(entry, "names a file that is not in the set");
    if (mapping[entry].local_task < 0 || task >= is_taken[file].size()) {
      fail(entry, "names a task that its file does not have");
    }
    if (is_taken[file][task]) fail(entry, "names a task for the second time");
    is_taken[file][task] = true;
    if (strictness == Strictness::strict && !std::cmp_equal(files_[file].layout.global_ranks[task], entry)) {
      fail(entry, "names a task of another rank");
    }
  }
  locations_ = mapping;
}

bool Reader::is_unfinished() const {
  return std::any_of(files_.begin(), files_.end(), [](const File& file) { return !file.layout.is_closed(); });
}

std::int64_t Reader::global_rank(std::int64_t task) const {
  const TaskLocation location = locations_[static_cast<std::size_t>(task)];
  return files_[static_cast<std::size_t>(location.file_number)]
      .layout.global_ranks[static_cast<std::size_t>(location.local_task)];
}

std::int64_t Reader::size_bytes(std::int64_t task) const {
  const TaskLocation location = locations_[static_cast<std::size_t>(task)];
  return files_[static_cast<std::size_t>(location.file_number)]
      .content_bytes[static_cast<std::size_t>(location.local_task)];
}

InputFile& Reader::input(std::int32_t file_number) {
  if (file_number != open_file_index_) {
    const std::string& path = files_[static_cast<std::size_t>(file_number)].path;
    open_file_ = file_number == 0 ? InputFile(path) : opened_member(path, path_);
    open_file_index_ = file_number;
  }
  return open_file_;
}

void Reader::seek(std::int64_t task, std::int64_t offset) {
  if (task != position_.task || offset < position_.block_begin) position_ = {task, 0, 0};
  while (true) {
    const std::int64_t used = block_bytes(task, position_.round);
    if (used < 0 || offset < position_.block_begin + used) return;
    position_.block_begin += used;
    ++position_.round;
  }
}

std::int64_t Reader::block_bytes(std::int64_t task, std::int64_t round) const {
  const TaskLocation location = locations_[static_cast<std::size_t>(task)];
  const Layout& layout = files_[static_cast<std::size_t>(location.file_number)].layout;
  const auto local = static_cast<std::size_t>(location.local_task);
  if (round >= layout.num_blocks[local]) return -1;
  return layout.used_bytes[static_cast<std::size_t>(round) * layout.num_blocks.size() + local];
}

std::size_t Reader::read(std::int64_t task, std::int64_t offset, std::span<char> into) {
  assert(offset >= 0);
  const TaskLocation location = locations_[static_cast<std::size_t>(task)];
  const File& file = files_[static_cast<std::size_t>(location.file_number)];
  std::size_t done = 0;
  while (done < into.size()) {
    const std::int64_t from = offset + static_cast<std::int64_t>(done);
    seek(task, from);
    const std::int64_t used = block_bytes(task, position_.round);
    if (used < 0) break;
    const std::int64_t in_block = from - position_.block_begin;
    const std::size_t size =
        static_cast<std::size_t>(std::min<std::int64_t>(used - in_block, std::ssize(into) - std::int64_t(done)));
    const std::int64_t at = file.geometry.chunk_offset(location.local_task, position_.round) + in_block;
    if (input(location.file_number).read_at(at, into.subspan(done, size)) != size) {
      throw damaged(file.path, {"TRUNCATED", "the file became shorter while it was read"});
    }
    done += size;
  }
  return done;
}

std::string Reader::content(std::int64_t task, std::int64_t max_bytes) {
  const std::int64_t size = size_bytes(task);
  const TaskLocation location = locations_[static_cast<std::size_t>(task)];
  const File& file = files_[static_cast<std::size_t>(location.file_number)];
  if (size > max_bytes) {
    throw damaged(file.path, {"LIMIT", "task " + std::to_string(task) + " has " + std::to_string(size) +
                                           " bytes, more than " + std::to_string(max_bytes)});
  }
  if (!is_in_proportion(input(location.file_number), size)) {
    throw damaged(file.path, {"LIMIT", "the " + std::to_string(size) + " bytes of task " + std::to_string(task) +
                                           " are nearly all holes in the file"});
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  bytes.resize(read(task, 0, bytes));
  return bytes;
}

void Reader::expect_distinct_ranks() const {
  std::vector<std::int64_t> ranks;
  ranks.reserve(locations_.size());
  for (std::int64_t task = 0; task < num_tasks(); ++task) ranks.push_back(global_rank(task));
  std::sort(ranks.begin(), ranks.end());
  if (!ranks.empty() && ranks.front() < 0) throw damaged(path_, {"RANKS", "a task has a negative rank"});
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice != ranks.end()) throw damaged(path_, {"RANKS", "two tasks have rank " + std::to_string(*twice)});
}

std::optional<KeyValueRecord> KeyValueRecords::next() {
  const std::int64_t left = reader_->size_bytes(task_) - offset_;
  if (left == 0) return std::nullopt;
  const auto fail = [this](const std::string& what) {
    throw damaged(reader_->path(), {"KVRECORD", "task " + std::to_string(task_) + ": the record at byte " +
                                                    std::to_string(offset_) + " " + what});
  };
  if (left < key_value_header_bytes) fail("is cut off");
  std::array<char, key_value_header_bytes> header;
  reader_->read(task_, offset_, header);
  ByteCursor cursor(std::string_view(header.data(), header.size()), reader_->metadata_order());
  KeyValueRecord record;
  record.key = cursor.take<std::uint64_t>();
  const auto value_bytes = cursor.take<std::uint64_t>();
  if (value_bytes > static_cast<std::uint64_t>(left - key_value_header_bytes)) {
    fail("is said to have " + std::to_string(value_bytes) + " bytes");
  }
  record.value_offset = offset_ + key_value_header_bytes;
  record.value_bytes = static_cast<std::int64_t>(value_bytes);
  offset_ = record.value_offset + record.value_bytes;
  return record;
}

}  // namespace leadline::result::sion
