// SPDX-License-Identifier: Apache-2.0
// A child process that may die.
#include "result/subprocess.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/error.hpp"

namespace leadline::result {

namespace {

/// A crash of it is expected: no core file, and no signal handler that prints something.
void die_quietly() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) ::signal(number, SIG_DFL);
}

/// How a child ended; nothing where that is unknown.
std::optional<int> end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return status;
}

/// Ours end with 0; what a library ends otherwise has not come to its end.
bool has_come_to_its_end(const std::optional<int>& status) {
  return !status || (WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
}

/// What this process has; 0 where the system does not tell.
std::uint64_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Leaves a limit that is lower already. Where the system does not tell what the process has, there is no limit.
void limit_memory(const Allowance& allowance) {
  rlimit limit{};
  const std::uint64_t now = address_space_bytes();
  if (now == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, now + allowance.memory_bytes);
  ::setrlimit(RLIMIT_AS, &limit);
}

constexpr int status_threw = 113;  // libraries end processes with 1

[[noreturn]] void run_as_child(const std::function<void()>& work, const Allowance& allowance) {
  die_quietly();
  const rlimit work_limit{allowance.work_s, allowance.work_s};
  ::setrlimit(RLIMIT_CPU, &work_limit);
  limit_memory(allowance);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  try {
    work();
  } catch (const std::exception&) {
    // The same will be thrown where somebody can catch it.
    ::_exit(status_threw);
  }
  ::_exit(0);
}

void write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// The parts of an error behind each other, a zero behind each; nothing in them is zero.
std::string as_text(const Error& error) {
  std::string text = std::to_string(static_cast<int>(error.status())) + '\0';
  for (const std::string& part : {error.problem(), error.why(), error.hint()}) text += part + '\0';
  return text;
}

Error error_of(const std::string& text) {
  std::istringstream parts(text);
  std::string status, problem, why, hint;
  for (auto* part : {&status, &problem, &why, &hint}) std::getline(parts, *part, '\0');
  return Error(static_cast<ExitStatus>(std::stoi(status)), problem, why, hint);
}

[[noreturn]] void work_as_child(const std::function<void()>& work, int report) {
  die_quietly();
  try {
    work();
  } catch (const Error& error) {
    write_all(report, as_text(error));
  } catch (const std::exception& error) {
    write_all(report, as_text(Error(ExitStatus::run_failed, "something unforeseen happened", error.what())));
  }
  ::_exit(0);
}

}  // namespace

Ending probe_in_child(const std::function<void()>& work, const Allowance& allowance) {
  const pid_t child = ::fork();
  if (child < 0) return Ending::returned;  // unknown: no further process can be made
  if (child == 0) run_as_child(work, allowance);
  const auto status = end_of(child);
  if (has_come_to_its_end(status)) return Ending::returned;
  return WIFEXITED(*status) && WEXITSTATUS(*status) == status_threw ? Ending::threw : Ending::died;
}

void run_with_memory_limit(const std::function<void()>& work, const Allowance& allowance) {
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  limit_memory(allowance);
  try {
    work();
  } catch (...) {
    ::setrlimit(RLIMIT_AS, &before);
    throw;
  }
  ::setrlimit(RLIMIT_AS, &before);
}

void run_in_subprocess(const std::string& problem, const std::string& why_it_died, const std::function<void()>& work) {
  std::array<int, 2> pipe{-1, -1};
  const bool has_pipe = ::pipe2(pipe.data(), O_CLOEXEC) == 0;
  const pid_t child = has_pipe ? ::fork() : -1;
  if (child == 0) work_as_child(work, pipe[1]);
  if (has_pipe) ::close(pipe[1]);
  if (child < 0) {
    if (has_pipe) ::close(pipe[0]);
    return work();  // better than nothing: most files are sound
  }
  const std::string report = read_all(pipe[0]);
  ::close(pipe[0]);
  const auto status = end_of(child);
  if (!has_come_to_its_end(status)) throw Error(ExitStatus::run_failed, problem, why_it_died);
  if (!report.empty()) throw error_of(report);
}

}  // namespace leadline::result
