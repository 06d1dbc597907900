// SPDX-License-Identifier: Apache-2.0
// The client's side of PMI-1's wire protocol, as far as a rank needs it to pass a text to all others.
#include "cluster/pmi1.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

[[noreturn]] void no_pmi1_server(const std::string& why) {
  throw Error(ExitStatus::something_missing, "the launcher's PMI server cannot be used", why,
              "Start the ranks with MPICH's mpiexec, srun --mpi=pmi2 or flux run, or remove the PMI_* variables");
}

/// Of a variable by which the launcher tells a rank who it is.
int told_number(const char* name, int min) {
  const char* const text = std::getenv(name);
  if (text == nullptr) no_pmi1_server(fmt::format("{} is not set", name));
  int number = 0;
  const std::string_view digits = text;
  const auto [stop, problem] = std::from_chars(digits.begin(), digits.end(), number);
  if (problem != std::errc{} || stop != digits.end())
    no_pmi1_server(fmt::format("{} is '{}', not a number", name, text));
  if (number < min) no_pmi1_server(fmt::format("{} is {}", name, number));
  return number;
}

Descriptor told_connection() {
  const int fd = told_number("PMI_FD", std::numeric_limits<int>::min());
  if (::fcntl(fd, F_GETFD) < 0) no_pmi1_server(fmt::format("PMI_FD is {}, which is not open", fd));
  return Descriptor(fd);
}

/// What stands behind `key=` in "cmd=get_result rc=0 value=text"; empty where it is not there.
std::string_view value_in(std::string_view reply, std::string_view key) {
  while (!reply.empty()) {
    const std::string_view word = reply.substr(0, reply.find(' '));
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
      return word.substr(key.size() + 1);
    reply.remove_prefix(std::min(word.size() + 1, reply.size()));
  }
  return {};
}

/// Two hexadecimal digits a byte.
std::string digits_of(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

/// Nothing where they are no such digits.
std::optional<std::string> bytes_of_digits(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    unsigned char byte = 0;
    const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    if (problem != std::errc{} || stop != digits.data() + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return digits.empty() ? std::optional(bytes) : std::nullopt;
}

class Pmi1Bootstrap final : public Bootstrap {
 public:
  Pmi1Bootstrap(Launcher launcher, std::chrono::nanoseconds timeout)
      : launcher_(launcher),
        timeout_(timeout),
        connection_(told_connection()),
        rank_(told_number("PMI_RANK", 0)),
        size_(told_number("PMI_SIZE", rank_ + 1)) {
    const Deadline deadline = Deadline::after(timeout_);
    try {
      ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline);
      value_length_max_ =
          std::atoi(std::string(value_in(ask("cmd=get_maxes", "maxes", deadline), "vallen_max")).c_str());
      space_ = value_in(ask("cmd=get_my_kvsname", "my_kvsname", deadline), "kvsname");
    } catch (const Refusal& refusal) {
      no_pmi1_server(refusal.why);
    }
  }
  Pmi1Bootstrap(const Pmi1Bootstrap&) = delete;
  Pmi1Bootstrap& operator=(const Pmi1Bootstrap&) = delete;
  ~Pmi1Bootstrap() override { joined(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string launcher() const override {
    if (launcher_ == Launcher::slurm_pmi2) return name_of(launcher_);
    return std::getenv("FLUX_TASK_RANK") != nullptr ? "Flux (PMI-1)" : "MPICH Hydra (PMI-1)";
  }

  std::string all_gather(const std::string& own) override try {
    const Deadline deadline = Deadline::after(timeout_);
    const int turn = num_gathered_++;
    // Values are text without blanks, so bytes go as hexadecimal digits.
    const std::string digits = digits_of(own);
    if (static_cast<int>(digits.size()) >= value_length_max_) {
      throw Refusal{fmt::format("a value may have {} characters, and {} are needed", value_length_max_, digits.size())};
    }
    ask(fmt::format("cmd=put kvsname={} key={} value={}", space_, key_of(turn, rank_), digits), "put_result", deadline);
    ask("cmd=barrier_in", "barrier_out", deadline);
    std::string all(own.size() * static_cast<std::size_t>(size_), '\0');
    for (int rank = 0; rank < size_; ++rank) {
      const std::string reply =
          ask(fmt::format("cmd=get kvsname={} key={}", space_, key_of(turn, rank)), "get_result", deadline);
      const std::string_view value = value_in(reply, "value");
      const std::optional<std::string> said = bytes_of_digits(value);
      if (!said || said->size() != own.size()) throw Refusal{"it says: " + reply};
      std::copy(said->begin(), said->end(), all.begin() + static_cast<std::ptrdiff_t>(own.size()) * rank);
    }
    return all;
  } catch (const Refusal& refusal) {
    throw Error(ExitStatus::run_failed, "the ranks cannot tell each other where they listen", refusal.why,
                "Look at the launcher's own messages");
  }

  // Not at the end of the run: a launcher kills those that have not said goodbye as soon as one rank dies, often before
  // anybody can say which.
  void joined() override {
    if (!connection_) return;
    try {
      ask("cmd=finalize", "finalize_ack", Deadline::after(std::chrono::seconds(10)));
    } catch (...) {
      // Nothing depends on it any more.
    }
    connection_ = Descriptor();
  }

 private:
  /// The server says no, or has gone.
  struct Refusal {
    std::string why;
  };

  static std::string key_of(int turn, int rank) { return fmt::format("leadline-{}-{}", turn, rank); }

  /// The line that answers, without its end.
  std::string ask(const std::string& request, std::string_view expected, Deadline deadline) {
    send(request + '\n', deadline);
    std::string reply = read_line(deadline);
    const std::string_view status = value_in(reply, "rc");
    if (value_in(reply, "cmd") != expected || (!status.empty() && status != "0"))
      throw Refusal{fmt::format("to {} it says: {}", value_in(request, "cmd"), reply)};
    return reply;
  }

  void send(std::string_view text, Deadline deadline) {
    while (!text.empty()) {
      await(POLLOUT, deadline);
      const ssize_t done = ::send(connection_.fd(), text.data(), text.size(), MSG_NOSIGNAL);
      if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
      if (done < 0 && errno != EINTR && errno != EAGAIN) throw Refusal{system_error_text(errno)};
    }
  }

  std::string read_line(Deadline deadline) {
    for (;;) {
      if (const auto end = unread_.find('\n'); end != std::string::npos) {
        std::string line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        return line;
      }
      await(POLLIN, deadline);
      std::array<char, 4096> piece{};
      const ssize_t got = ::read(connection_.fd(), piece.data(), piece.size());
      if (got > 0) unread_.append(piece.data(), static_cast<std::size_t>(got));
      if (got == 0) throw Refusal{"it has closed the connection"};
      if (got < 0 && errno != EINTR && errno != EAGAIN) throw Refusal{system_error_text(errno)};
    }
  }

  void await(short events, Deadline deadline) const {
    pollfd polled{connection_.fd(), events, 0};
    for (;;) {
      if (::poll(&polled, 1, deadline.left_ms()) > 0) return;
      if (!deadline.has_passed()) continue;
      throw Error(ExitStatus::run_failed, "the launcher's PMI server does not answer",
                  fmt::format("not all ranks were heard of within {:.3g} s", seconds(timeout_)),
                  "Check that all ranks were started; --start-timeout sets the patience");
    }
  }

  Launcher launcher_;
  std::chrono::nanoseconds timeout_;
  Descriptor connection_;
  int rank_, size_;
  int value_length_max_ = 0;
  std::string space_;  ///< the name of the job's keys and values
  std::string unread_;
  int num_gathered_ = 0;
};

}  // namespace

std::unique_ptr<Bootstrap> pmi1_bootstrap(Launcher launcher, std::chrono::nanoseconds timeout) {
  return std::make_unique<Pmi1Bootstrap>(launcher, timeout);
}

}  // namespace leadline::cluster
