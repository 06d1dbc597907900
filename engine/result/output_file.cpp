// SPDX-License-Identifier: Apache-2.0
// Files that are written: with positioned writes, or under their name only when they are whole; errors in a user's
// words.
#include "result/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "core/descriptor.hpp"
#include "core/terminal.hpp"

namespace leadline::result {
namespace {

Error create_error(const std::string& path, int error_number) {
  const std::string problem = "cannot create result file " + path;
  const std::string why = system_error_text(error_number);
  if (is_out_of_descriptors(error_number)) {
    return Error(ExitStatus::something_missing, problem, why, more_descriptors);
  }
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS:
      return Error(ExitStatus::something_missing, problem, why, "Choose a place that you may write to with --output");
    case ENOENT:
      return Error(ExitStatus::bad_command_line, problem, why,
                   "Make its directory first, or choose another with --output");
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case ETXTBSY:
      return Error(ExitStatus::bad_command_line, problem, why, "Choose another name with --output");
    default:
      return Error(ExitStatus::run_failed, problem, why, "Choose another place with --output");
  }
}

Error there_already(const std::string& path) {
  return Error(ExitStatus::bad_command_line, "result file " + path + " is there already", "",
               "Choose another name, or add --overwrite");
}

Error no_regular_file(const std::string& path) {
  return Error(ExitStatus::bad_command_line, "cannot create result file " + path, "it is there, and no regular file",
               "Choose another name");
}

int open_for_overwriting(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) {
    throw S_ISDIR(status.st_mode) ? create_error(path, EISDIR) : no_regular_file(path);
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) throw create_error(path, errno);
  return fd;
}

bool is_device_to_overwrite(const std::string& path, ExistingFile existing) {
  struct stat status {};
  return existing == ExistingFile::overwrite && ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

}  // namespace

Error write_error(const std::string& path, const std::string& why) {
  return Error(ExitStatus::run_failed, "cannot write result file " + path, why);
}

Error write_error(const std::string& path, int error_number) {
  const std::string why = system_error_text(error_number);
  const std::string problem = "cannot write result file " + path;
  if (is_out_of_descriptors(error_number)) {
    return Error(ExitStatus::something_missing, problem, why, more_descriptors);
  }
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return Error(ExitStatus::run_failed, problem, why, "Make room there, or choose another place with --output");
    case EFBIG:
      return Error(ExitStatus::run_failed, problem, why,
                   "Choose a file system for larger files with --output, or raise the limit of this shell (ulimit -f)");
    default:
      return Error(ExitStatus::run_failed, problem, why, "Choose another place with --output");
  }
}

void tell_not_kept(const Error& error, const std::string& reason) noexcept {
  if (error.status() == ExitStatus::output_closed || reason.find(error.what()) != std::string::npos) return;
  std::fprintf(stderr, "%sleadline: %s\n", over_progress(), error.what());
}

OutputFile OutputFile::create(const std::string& path, ExistingFile existing) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) return OutputFile(path, fd);
  if (errno != EEXIST) throw create_error(path, errno);
  if (existing == ExistingFile::overwrite) return OutputFile(path, open_for_overwriting(path));

  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) throw create_error(path, EISDIR);
  throw there_already(path);
}

std::optional<OutputFile> OutputFile::open_existing(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  return OutputFile(path, fd);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw write_error(path_, errno);
    // A write of nothing without an error means that the medium takes no more.
    if (written == 0) throw write_error(path_, ENOSPC);
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::write_at(std::uint64_t offset, std::string_view text) const {
  write_at(offset, std::as_bytes(std::span(text.data(), text.size())));
}

std::string OutputFile::read_at(std::uint64_t offset, std::size_t size) const {
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd_, text.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

void OutputFile::expect_room(std::uint64_t size_bytes) const {
  struct statvfs status {};
  if (::fstatvfs(fd_, &status) != 0) return;
  if (static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize < size_bytes) throw write_error(path_, ENOSPC);
}

void OutputFile::reserve(std::uint64_t size_bytes) const {
  const int problem = ::posix_fallocate(fd_, 0, static_cast<off_t>(size_bytes));
  if (problem != 0) throw write_error(path_, problem);
}

std::uint64_t OutputFile::size_bytes() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) throw write_error(path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void OutputFile::truncate(std::uint64_t size) const {
  // EINVAL: a device, which has no size.
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0 && errno != EINVAL) throw write_error(path_, errno);
}

void OutputFile::sync() const {
  // EINVAL and ENOTSUP: a file system or device that cannot.
  if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) throw write_error(path_, errno);
}

void OutputFile::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) throw write_error(path_, errno);
}

bool OutputFile::has_its_name() const {
  struct stat own {
  }, named{};
  if (::fstat(fd_, &own) != 0) return false;
  return ::stat(path_.c_str(), &named) == 0 && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

void OutputFile::expect_not_replaced() const {
  struct stat status {};
  if (has_its_name() || ::lstat(path_.c_str(), &status) != 0) return;
  throw write_error(path_, "another file has taken its name");
}

void OutputFile::restore_name() {
  if (auto copy = copy_under_name()) *this = std::move(*copy);
}

void OutputFile::leave_copy_under_name() const { copy_under_name(); }

std::optional<OutputFile> OutputFile::copy_under_name() const {
  if (has_its_name()) return std::nullopt;
  expect_not_replaced();
  try {
    StagedFile staged(path_, ExistingFile::refuse);
    OutputFile copy = staged.create();
    constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;
    const std::uint64_t end = size_bytes();
    for (std::uint64_t at = 0; at < end; at += piece_bytes) {
      const std::string piece = read_at(at, std::min(piece_bytes, end - at));
      // What is a hole shall not fill the disk.
      if (piece.find_first_not_of('\0') != std::string::npos) copy.write_at(at, piece);
    }
    copy.truncate(end);
    copy.sync();
    staged.commit();
    copy.moved_to(path_);
    return copy;
  } catch (const Error& error) {
    throw write_error(path_, error.why());
  }
}

void GatheredWrites::add(std::uint64_t offset, std::string_view bytes) {
  constexpr std::uint64_t unit = std::uint64_t{1} << 20;
  if (offset != begin_ + bytes_.size()) {
    flush();
    begin_ = offset;
  }
  while (!bytes.empty()) {
    // To the first multiple that makes the write long enough.
    const std::uint64_t end = (begin_ + 2 * unit - 1) / unit * unit;
    const std::string_view next = bytes.substr(0, end - (begin_ + bytes_.size()));
    bytes_ += next;
    bytes.remove_prefix(next.size());
    if (begin_ + bytes_.size() == end) flush();
  }
}

void GatheredWrites::flush() {
  if (!bytes_.empty()) write_(begin_, bytes_);
  begin_ += bytes_.size();
  bytes_.clear();
}

bool OutputFile::needs_one_writing_host() const {
  // NFS, CIFS, SMB 2, FUSE: magic numbers from statfs(2).
  constexpr std::array<std::uint32_t, 4> magics{0x6969, 0xFF534D42, 0xFE534D42, 0x65735546};
  struct statfs status {};
  if (::fstatfs(fd_, &status) != 0) return true;
  return std::find(magics.begin(), magics.end(), static_cast<std::uint32_t>(status.f_type)) != magics.end();
}

namespace fs = std::filesystem;

StagedFile::StagedFile(const std::string& output, ExistingFile existing)
    : output_(output), target_(output), existing_(existing) {
  struct stat status {};
  if (::stat(output.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw create_error(output, EISDIR);
    if (existing == ExistingFile::refuse) throw there_already(output);
    if (!S_ISREG(status.st_mode)) throw no_regular_file(output);
    if (::access(output.c_str(), W_OK) != 0) throw create_error(output, errno);
    target_ = fs::canonical(output).string();
    replaced_ = Access{status.st_mode & 07777U, status.st_uid, status.st_gid};
  } else if (errno != ENOENT || ::lstat(output.c_str(), &status) == 0) {
    throw create_error(output, errno);  // a link to nothing, or what only an attempt can tell
  }
  constexpr std::size_t most_letters = 200;  // with what goes before it, within the 255 of a file system
  const fs::path target(target_);
  const std::string name = target.filename().string().substr(0, most_letters);
  path_ = (target.parent_path() / fmt::format(".leadline-{}-{}", ::getpid(), name)).string();
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw create_error(output, errno);
  // The same process number on another host: what lies there is nobody's any more.
  ::unlink(path_.c_str());
}

StagedFile::~StagedFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

OutputFile StagedFile::create() const try {
  OutputFile file = OutputFile::create(path_, ExistingFile::refuse);
  // Before the first byte is in it, which others may not be meant to read. Only root can give a file away.
  if (replaced_) (void)!::chown(path_.c_str(), replaced_->user, replaced_->group);
  if (replaced_ && ::chmod(path_.c_str(), replaced_->mode) != 0) throw write_error(output_, errno);
  return file;
} catch (const Error& error) {
  throw named(error);
}

Error StagedFile::named(const Error& error) const {
  const auto with_name = [&](std::string text) {
    for (auto at = text.find(path_); at != std::string::npos; at = text.find(path_, at + output_.size())) {
      text.replace(at, path_.size(), output_);
    }
    return text;
  };
  return Error(error.status(), with_name(error.problem()), with_name(error.why()), error.hint());
}

void StagedFile::commit() {
  const unsigned flags = existing_ == ExistingFile::refuse ? RENAME_NOREPLACE : 0;
  int problem = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), flags) == 0 ? 0 : errno;
  // Some network file systems do not know the flag.
  if (problem == EINVAL && flags != 0) problem = ::rename(path_.c_str(), target_.c_str()) == 0 ? 0 : errno;
  if (problem != 0) throw write_error(output_, problem);
  path_.clear();
}

void expect_document_can_be_written(const std::string& path, ExistingFile existing) {
  if (!is_device_to_overwrite(path, existing)) StagedFile(path, existing);
}

void write_document(const std::string& path, ExistingFile existing, std::string_view text) {
  if (is_device_to_overwrite(path, existing)) return OutputFile::create(path, existing).write_at(0, text);
  StagedFile staged(path, existing);
  OutputFile file = staged.create();
  try {
    file.write_at(0, text);
    file.sync();
    file.close();
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
}

}  // namespace leadline::result
