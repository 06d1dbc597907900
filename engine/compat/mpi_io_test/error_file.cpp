// SPDX-License-Identifier: Apache-2.0
// On one process only; the old program let every process open the file, and their texts destroyed each other.
#include "compat/mpi_io_test/error_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace leadline::compat::mpi_io_test {

std::optional<Error> redirect_errors(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    return Error(ExitStatus::bad_command_line, fmt::format("-errout {} cannot be written", path),
                 system_error_text(errno), "Name a file in a directory that is there");
  }
  std::fflush(stderr);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  return std::nullopt;
}

}  // namespace leadline::compat::mpi_io_test
