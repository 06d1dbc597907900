// SPDX-License-Identifier: Apache-2.0
// Which rank reports an error before the ranks are connected.
#include "command/reporting.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/terminal.hpp"
#include "output/colours.hpp"

namespace leadline::command {
namespace {

/// Under a launcher every rank finds the same mistake; one of them reports it. The others wait: mpirun and
/// mpiexec end all ranks as soon as one has failed, and the rank that reports may have started last.
constexpr std::chrono::seconds time_to_report{1};

int report(const Error& error, cluster::FrontEnd front_end) {
  const bool is_agreed = dynamic_cast<const AgreedError*>(&error) != nullptr;
  if (is_agreed ? cluster::rank_hint(front_end) == 0 : cluster::speaks_before_joining(front_end)) {
    complain(error);
  } else {
    std::this_thread::sleep_for(time_to_report);
  }
  return static_cast<int>(error.status());
}

}  // namespace

int reported(cluster::FrontEnd front_end, const std::function<int()>& body) noexcept try {
  try {
    occupy_closed_streams();
    for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
    return body();
  } catch (const Error& error) {
    return report(error, front_end);
  } catch (const std::exception& error) {
    return report(Error(ExitStatus::run_failed, "something unforeseen happened", error.what(), "Please report it"),
                  front_end);
  }
} catch (...) {
  return static_cast<int>(ExitStatus::run_failed);
}

void occupy_closed_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken. Writing to what is open for reading fails, as it does where nothing is open;
    // standard error is the exception: unwanted progress is not an error.
    (void)!::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void say(const std::string& text) {
  std::string shown = printable(text, LineEnds::kept);
  if (takes_colours(STDOUT_FILENO)) shown = output::coloured(shown);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) throw Error(ExitStatus::output_closed, "nobody reads standard output");
  throw Error(ExitStatus::run_failed, "cannot write to standard output", system_error_text(errno));
}

void say_if_read(const std::string& text) try { say(text); } catch (const Error& error) {
  if (error.status() != ExitStatus::output_closed) throw;
}

void StepLog::tell(const std::string& text) const {
  if (!is_verbose_) return;
  std::fprintf(stderr, "%s%s: %s\n", over_progress(), command_.c_str(), printable(text, LineEnds::replaced).c_str());
}

void StepLog::done(const std::string& step) { tell(fmt::format("{} ({:.3f} s)", step, since_last_.lap_s())); }

void complain(const std::string& what) noexcept {
  std::fprintf(stderr, "%sleadline: %s\n", over_progress(), what.c_str());
}

void complain(const Error& error) noexcept {
  if (error.status() != ExitStatus::output_closed) complain(std::string(error.what()));
}

}  // namespace leadline::command
