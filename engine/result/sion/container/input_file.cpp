// SPDX-License-Identifier: Apache-2.0
// Positioned reads that are complete or at the end of the file, and the holes of sparse files.
#include "result/sion/container/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"

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

}  // namespace leadline::result::sion
