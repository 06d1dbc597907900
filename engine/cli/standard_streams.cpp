// SPDX-License-Identifier: Apache-2.0
// Writes to the standard streams, and what becomes of those that are closed.
#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/error.hpp"

namespace leadline::cli {

void occupy_closed_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken. Writing to what is open for reading fails, as it does where nothing is open;
    // standard error is the exception: unwanted progress is not an error.
    (void)!::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void say(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw Error(ExitStatus::run_failed, "cannot write to standard output", system_error_text(errno));
}

void complain(const std::string& what) noexcept { std::fprintf(stderr, "leadline: %s\n", what.c_str()); }

}  // namespace leadline::cli
