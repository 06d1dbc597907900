// SPDX-License-Identifier: Apache-2.0
// Asks the kernel and the environment.
#include "core/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace leadline {
namespace {

std::string_view from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// Open MPI's mpirun gives ranks a terminal of its own as standard output, and passes the text on into files as well.
bool is_own_terminal(int fd) { return ::tcgetpgrp(fd) >= 0; }

}  // namespace

bool is_redrawable(int fd) {
  const std::string_view terminal = from_environment("TERM");
  return !terminal.empty() && terminal != "dumb" && ::isatty(fd) == 1;
}

bool takes_colours(int fd) { return from_environment("NO_COLOR").empty() && is_redrawable(fd) && is_own_terminal(fd); }

int terminal_width(int fd) {
  winsize size{};
  const bool is_known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : usual_text_width;
}

int text_width() {
  if (!is_own_terminal(STDOUT_FILENO)) return usual_text_width;
  const std::string_view columns = from_environment("COLUMNS");
  int width = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  const bool is_number = error == std::errc() && end == columns.data() + columns.size() && width > 0;
  return is_number ? width : terminal_width(STDOUT_FILENO);
}

const char* over_progress() { return is_redrawable(STDERR_FILENO) ? erase_line : ""; }

}  // namespace leadline
