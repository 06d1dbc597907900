// SPDX-License-Identifier: Apache-2.0
// Plain calls to a file that MPI has failed on.
#include "storage/mpi_io/plain_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "storage/descriptor.hpp"

namespace leadline::storage::mpi_io {

int error_of_plain_write(const std::string& path, std::uint64_t offset_bytes, std::byte byte) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return errno;
  return ::pwrite(file.fd(), &byte, 1, static_cast<off_t>(offset_bytes)) < 0 ? errno : 0;
}

int error_of_plain_read(const std::string& path, std::uint64_t offset_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  std::byte byte{};
  return ::pread(file.fd(), &byte, 1, static_cast<off_t>(offset_bytes)) < 0 ? errno : 0;
}

std::uint64_t plain_size_bytes(const std::string& path) {
  // Opened anew, since file systems on a network look again then.
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.fd(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace leadline::storage::mpi_io
