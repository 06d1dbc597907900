// SPDX-License-Identifier: Apache-2.0
// Forks the child, reads what it says, and sees it to its end.
#include "cluster/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

[[noreturn]] void answer_and_leave(int fd, const std::function<std::string()>& question) {
  std::string text;
  try {
    text = question();
  } catch (const std::exception& error) {
    text = error.what();
  }
  const std::uint64_t size = text.size();
  text.insert(0, reinterpret_cast<const char*>(&size), sizeof size);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

/// What the child says, behind its size; nothing where the child ends, or the deadline comes, before it is whole.
std::optional<std::string> read_answer(int fd, Deadline deadline) {
  std::string text;
  std::uint64_t size = 0;
  std::array<char, 512> piece{};
  while (text.size() < sizeof size || text.size() < sizeof size + size) {
    pollfd wanted{fd, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, deadline.left_ms());
    if (ready <= 0 && deadline.has_passed()) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() >= sizeof size) std::memcpy(&size, text.data(), sizeof size);
  }
  return text.substr(sizeof size);
}

/// Whether it comes to its end by the deadline; it is left to be waited for, so that its number stays its own.
bool ends(pid_t child, Deadline deadline) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child) {
      return true;
    }
    if (deadline.has_passed()) return false;
    ::poll(nullptr, 0, 1);
  }
}

/// SIGKILL to the child and those that stayed in its group; then its status. Nothing where it stays, inside the kernel.
std::optional<int> end_group(pid_t child) {
  constexpr auto patience = std::chrono::seconds(2);
  if (::kill(-child, SIGKILL) != 0) ::kill(child, SIGKILL);
  if (!ends(child, Deadline::after(patience))) return std::nullopt;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string words_for(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("it ended with status {}", WEXITSTATUS(status));
  const char* name = ::strsignal(WTERMSIG(status));
  return fmt::format("it died of signal {} ({})", WTERMSIG(status), name != nullptr ? name : "unknown");
}

std::string words_for(std::chrono::milliseconds patience) {
  if (patience.count() % 1000 == 0) return fmt::format("it was not done within {} s", patience.count() / 1000);
  return fmt::format("it was not done within {} ms", patience.count());
}

}  // namespace

ChildAnswer ask_child(const std::function<std::string()>& question, std::chrono::milliseconds patience) {
  const auto deadline = Deadline::after(patience);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw Error(ExitStatus::run_failed, "cannot make a pipe", system_error_text(errno));
  }
  const Descriptor in(pipe[0]);
  Descriptor out(pipe[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Error(ExitStatus::run_failed, "cannot start a child process", system_error_text(errno));
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    answer_and_leave(out.fd(), question);
  }
  ::setpgid(child, child);  // whichever of the two comes first
  out = Descriptor();
  std::optional<std::string> text = read_answer(in.fd(), deadline);
  // One of its own children may have kept the pipe open until the deadline, long after it died.
  const bool has_ended = !text && ends(child, deadline);
  const std::optional<int> status = end_group(child);
  if (!text) return {std::nullopt, has_ended && status ? words_for(*status) : words_for(patience)};
  return {std::move(text), {}};
}

}  // namespace leadline::cluster
