// SPDX-License-Identifier: Apache-2.0
// One command for each host, and one loop that reads from all of them.
#include "cluster/host_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"
#include "cluster/host_agent.hpp"
#include "cluster/host_frames.hpp"
#include "cluster/signals.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;

// As those of the local launcher: see there.
constexpr auto patience_after_rank_failed = 7s;
constexpr auto patience_after_closing = 5s;
// Where a rank has said that one is inside a file call, which may stay.
constexpr auto patience_with_one_left = 1s;
constexpr auto patience_after_closing_with_one_left = 500ms;
constexpr auto poll_interval_ms = 200;
constexpr std::size_t words_kept_bytes = 4096;  // of what a command says before the program on the host does

// A shell's status where it finds no program; 2 is that of a version that does not know the argument.
constexpr int status_no_command = 127, status_not_executable = 126, status_bad_command_line = 2;

// What steers this program and the libraries of transports goes to all hosts, as mpirun -x would do it.
constexpr std::string_view passed_variables[] = {"LEADLINE_", "UCX_", "FI_", "PSM2_", "NCCL_"};

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

void keep_last(std::string& text) {
  if (text.size() > words_kept_bytes) text.erase(0, text.size() - words_kept_bytes);
}

/// A host, seen from the launcher.
struct LaunchedHost {
  enum class State : std::uint8_t { starting, came, failed };

  std::string name;
  pid_t pid = 0;
  Descriptor to, from, err;
  State state = State::starting;
  std::string unread, unsent;
  std::string words;      ///< what the command and a login shell have said, on either stream
  std::string why;        ///< it failed
  bool is_fatal = false;  ///< and to leave it out would hide a mistake
  bool has_ended = false;
  int status = 0;  ///< of the command, as waitpid gives it
};

struct LaunchedRank {
  std::size_t host = 0;
  std::optional<int> status;  ///< as waitpid gives it
  std::optional<std::string> gathered;
  std::string line;  ///< of standard error, as far as it has come
};

class HostsLauncher {
 public:
  explicit HostsLauncher(const HostsRun& run) : run_(run) {
    signals_ = ending_signals();
    ::sigprocmask(SIG_BLOCK, &signals_, &mask_before_);
    signal_fd_ = Descriptor(::signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~HostsLauncher() {
    end_commands();
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  HostsLauncher(const HostsLauncher&) = delete;
  HostsLauncher& operator=(const HostsLauncher&) = delete;

  int run() {
    std::error_code error;
    folder_ = std::filesystem::current_path(error).string();
    if (error) {
      throw Error(ExitStatus::run_failed, "this process has no working folder", error.message(),
                  "Enter one that exists");
    }
    for (const std::string& name : run_.hosts) start_command(name);
    await_hosts();
    start_ranks();
    return wait();
  }

 private:
  void start_command(const std::string& name);
  void await_hosts();
  void start_ranks();
  int wait();
  int outcome() const;
  void step(int wait_ms);
  void take_signals();
  void look_at(LaunchedHost& host);
  void find_marker(LaunchedHost& host);
  void fail_start(LaunchedHost& host);
  void take(std::size_t host, HostFrame frame);
  void take_gather(std::uint32_t rank, std::string text);
  void take_err(std::uint32_t rank, std::string_view text);
  void show_line(std::uint32_t rank, const std::string& line);
  void lose_ranks_of(std::size_t host);
  void note_status(std::uint32_t rank, int status);
  void send(LaunchedHost& host, const HostFrame& frame);
  static void flush(LaunchedHost& host);
  void say_words(const LaunchedHost& host) const;
  void end_commands();
  bool is_over() const {
    return std::ranges::all_of(ranks_, [](const LaunchedRank& one) { return one.status.has_value(); });
  }
  const LaunchedRank& leader() const { return ranks_[leader_.value_or(0)]; }

  const HostsRun& run_;
  std::string folder_;  ///< where ranks work, on all hosts
  std::vector<LaunchedHost> hosts_;
  std::vector<LaunchedRank> ranks_;      ///< of hosts that came
  std::optional<std::uint32_t> leader_;  ///< the run goes on without ranks that are lost
  std::optional<std::uint32_t> first_failed_;
  std::set<std::string> shown_;  ///< complaints, so that each is shown once
  std::optional<int> told_signal_;
  std::optional<std::size_t> host_lost_at_start_;
  std::optional<std::string> refusal_;  ///< a host starts no rank
  bool has_gathered_ = false, is_reported_ = false, is_ending_ = false, is_read_ = true;
  Descriptor signal_fd_;
  sigset_t signals_{}, mask_before_{};
};

void HostsLauncher::start_command(const std::string& name) {
  std::array<std::array<int, 2>, 4> pipes{};
  for (auto& one : pipes) {
    if (::pipe2(one.data(), O_CLOEXEC) == 0) continue;
    throw Error(ExitStatus::run_failed, fmt::format("cannot start {} commands", run_.hosts.size()),
                system_error_text(errno), is_out_of_descriptors(errno) ? more_descriptors : "");
  }
  Descriptor in(pipes[0][0]), to(pipes[0][1]), from(pipes[1][0]), out(pipes[1][1]), err(pipes[2][0]),
      complaints(pipes[2][1]), exec_error(pipes[3][0]), exec_failed(pipes[3][1]);
  std::vector<std::string> words = run_.command;
  words.insert(words.end(), {name, shell_word(run_.program), std::string(host_agent_argument)});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    throw Error(ExitStatus::run_failed, fmt::format("cannot start {} commands", run_.hosts.size()),
                system_error_text(errno));
  }
  if (pid == 0) {
    ::setsid();  // no terminal: Ctrl-C goes to the ranks through the launcher, and nothing asks for a password
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != launcher) ::_exit(1);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    ::dup2(in.fd(), STDIN_FILENO);
    ::dup2(out.fd(), STDOUT_FILENO);
    ::dup2(complaints.fd(), STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    const int number = errno;
    (void)!::write(exec_failed.fd(), &number, sizeof number);
    ::_exit(status_no_command);
  }
  for (const Descriptor* const one : {&to, &from, &err}) ::fcntl(one->fd(), F_SETFL, O_NONBLOCK);
  LaunchedHost& host = hosts_.emplace_back();
  host.name = name;
  host.pid = pid;
  host.to = std::move(to);
  host.from = std::move(from);
  host.err = std::move(err);
  exec_failed = Descriptor();
  int number = 0;
  if (::read(exec_error.fd(), &number, sizeof number) == sizeof number) {
    throw Error(ExitStatus::bad_command_line, fmt::format("cannot start '{}'", run_.command.front()),
                system_error_text(number),
                "--launch needs a command that takes a host and a command line, as ssh does");
  }
}

void HostsLauncher::say_words(const LaunchedHost& host) const {
  std::string_view left = host.words;
  while (!left.empty()) {
    const std::string line(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const std::string shown = printable(line.substr(0, line.find_last_not_of("\r ") + 1), LineEnds::replaced);
    if (!shown.empty()) fmt::print(stderr, "{}: {}\n", host.name, shown);
  }
}

void HostsLauncher::fail_start(LaunchedHost& host) {
  host.state = LaunchedHost::State::failed;
  host.why = fmt::format("{} {}", run_.command.front(), how_it_ended(host.status));
  host.words += host.unread;
  keep_last(host.words);
  if (!WIFEXITED(host.status)) return;
  const int status = WEXITSTATUS(host.status);
  host.is_fatal = status == status_no_command || status == status_not_executable || status == status_bad_command_line;
}

/// Where the program on the host begins to speak, behind what a login shell may have printed.
void HostsLauncher::find_marker(LaunchedHost& host) {
  const std::size_t at = host.unread.find(hosts_marker);
  const bool begins_line = at == 0 || (at != std::string::npos && host.unread[at - 1] == '\n');
  const std::size_t end = begins_line ? host.unread.find('\n', at) : std::string::npos;
  if (end == std::string::npos) return;
  const std::size_t version_at = at + hosts_marker.size();
  const std::string version = host.unread.substr(version_at, end - version_at);
  host.words += host.unread.substr(0, at);
  host.unread.erase(0, end + 1);
  keep_last(host.words);
  host.state = LaunchedHost::State::came;
  if (version == run_.version) return;
  host.state = LaunchedHost::State::failed;
  host.is_fatal = true;
  host.why = fmt::format("it has version {}, and this one is {}", version, run_.version);
}

void HostsLauncher::flush(LaunchedHost& host) {
  while (!host.unsent.empty() && host.to) {
    const ssize_t done = ::write(host.to.fd(), host.unsent.data(), host.unsent.size());
    if (done > 0) host.unsent.erase(0, static_cast<std::size_t>(done));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) return;
    if (done < 0) host.to = Descriptor();  // its end is seen elsewhere
  }
}

void HostsLauncher::send(LaunchedHost& host, const HostFrame& frame) {
  host.unsent += packed(frame);
  flush(host);
}

void HostsLauncher::take_signals() {
  signalfd_siginfo one{};
  while (::read(signal_fd_.fd(), &one, sizeof one) == sizeof one) {
    told_signal_ = static_cast<int>(one.ssi_signo);
    for (LaunchedHost& host : hosts_) {
      if (host.state == LaunchedHost::State::came) send(host, {HostFrameKind::signal, one.ssi_signo, {}});
    }
  }
}

/// Whether its command has ended is asked first, so that what it said before is read to the end.
void HostsLauncher::look_at(LaunchedHost& host) {
  if (host.has_ended && !host.from) return;
  int status = 0;
  if (!host.has_ended && ::waitpid(host.pid, &status, WNOHANG) == host.pid) {
    host.has_ended = true;
    host.status = status;
  }
  const auto is_readable = [](const Descriptor& from) {
    pollfd polled{from.fd(), POLLIN, 0};
    return from && ::poll(&polled, 1, 0) > 0;
  };
  while (is_readable(host.err)) {
    if (!read_more(host.err.fd(), host.words)) host.err = Descriptor();
    keep_last(host.words);
  }
  while (is_readable(host.from)) {
    if (!read_more(host.from.fd(), host.unread)) host.from = Descriptor();
    if (host.state == LaunchedHost::State::starting) {
      find_marker(host);
      if (host.state == LaunchedHost::State::starting && host.unread.size() > (1U << 20))
        host.unread.erase(0, 1U << 19);
    }
    while (host.state == LaunchedHost::State::came) {
      auto frame = take_frame(host.unread);
      if (!frame) break;
      take(static_cast<std::size_t>(&host - hosts_.data()), *std::move(frame));
    }
  }
  if (!host.has_ended) return;
  // A process that it left behind may hold the other ends.
  for (Descriptor* const one : {&host.from, &host.to, &host.err}) *one = Descriptor();
  const bool has_ranks = !ranks_.empty();
  if (host.state == LaunchedHost::State::starting || (host.state == LaunchedHost::State::came && !has_ranks)) {
    fail_start(host);
  }
  if (host.state == LaunchedHost::State::came) lose_ranks_of(static_cast<std::size_t>(&host - hosts_.data()));
}

void HostsLauncher::step(int wait_ms) {
  std::vector<pollfd> polled{{signal_fd_.fd(), POLLIN, 0}};
  for (const LaunchedHost& host : hosts_) {
    polled.push_back({host.from.fd(), POLLIN, 0});
    polled.push_back({host.err.fd(), POLLIN, 0});
    if (!host.unsent.empty()) polled.push_back({host.to.fd(), POLLOUT, 0});
  }
  ::poll(polled.data(), polled.size(), std::min(wait_ms, poll_interval_ms));
  take_signals();
  for (LaunchedHost& host : hosts_) {
    flush(host);
    look_at(host);
  }
}

/// Until all have come or failed, and no longer than the start may take.
void HostsLauncher::await_hosts() {
  const auto deadline = Deadline::after(run_.start_timeout);
  const auto is_starting = [](const LaunchedHost& host) { return host.state == LaunchedHost::State::starting; };
  const auto is_mistake = [](const LaunchedHost& host) { return host.is_fatal; };
  const auto ends_run = [this](const LaunchedHost& host) {
    return host.is_fatal || (host.state == LaunchedHost::State::failed && !run_.leaves_out_absent);
  };
  while (std::ranges::any_of(hosts_, is_starting) && !std::ranges::any_of(hosts_, ends_run) && !deadline.has_passed() &&
         !told_signal_) {
    step(deadline.left_ms());
  }
  if (told_signal_) {
    throw Error(ExitStatus::run_failed, "the start was stopped", fmt::format("signal {}", *told_signal_),
                "Nothing was measured");
  }
  if (const auto host = std::ranges::find_if(hosts_, is_mistake); host != hosts_.end()) {
    say_words(*host);
    throw Error(ExitStatus::something_missing, fmt::format("{} cannot run {}", host->name, run_.program), host->why,
                "The same version has to be installed at the same path on all hosts");
  }
  for (LaunchedHost& host : hosts_) {
    if (host.state != LaunchedHost::State::starting || !deadline.has_passed()) continue;
    host.state = LaunchedHost::State::failed;
    host.why = fmt::format("nothing came from it within {:.3g} s", seconds(run_.start_timeout));
    host.words += host.unread;
  }
  std::vector<const LaunchedHost*> failed;
  for (const LaunchedHost& host : hosts_) {
    if (host.state == LaunchedHost::State::failed) failed.push_back(&host);
  }
  for (const LaunchedHost* const host : failed) say_words(*host);
  if (failed.empty() || (run_.leaves_out_absent && failed.size() < hosts_.size())) return;
  const std::string others =
      failed.size() > 1 ? fmt::format(", nor did {} of the others", failed.size() - 1) : std::string();
  throw Error(ExitStatus::run_failed, fmt::format("{} did not start{}", failed.front()->name, others),
              failed.front()->why, fmt::format("Try: {} {} true", fmt::join(run_.command, " "), failed.front()->name));
}

std::vector<std::string> variables_to_pass() {
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable = *one;
    const bool is_passed =
        std::ranges::any_of(passed_variables, [&](std::string_view prefix) { return variable.starts_with(prefix); });
    if (is_passed) variables.emplace_back(variable);
  }
  return variables;
}

void HostsLauncher::start_ranks() {
  HostStart start;
  start.ranks_per_host = static_cast<std::uint32_t>(run_.ranks_per_host);
  start.size = static_cast<std::uint32_t>(hosts_.size()) * start.ranks_per_host;
  start.folder = folder_;
  start.arguments = run_.arguments;
  start.environment = variables_to_pass();
  for (const LaunchedHost& host : hosts_) {
    if (host.state == LaunchedHost::State::failed) start.absent.push_back({host.name, host.why});
  }
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    LaunchedHost& host = hosts_[index];
    if (host.state == LaunchedHost::State::failed) {
      host.to = Descriptor();
      if (!host.has_ended) ::kill(-host.pid, SIGTERM);
      continue;
    }
    start.first_rank = static_cast<std::uint32_t>(ranks_.size());
    for (int rank = 0; rank < run_.ranks_per_host; ++rank) ranks_.emplace_back().host = index;
    send(host, {HostFrameKind::start, 0, packed(start)});
  }
}

void HostsLauncher::note_status(std::uint32_t rank, int status) {
  LaunchedRank& one = ranks_[rank];
  if (one.status) return;
  if (!one.line.empty()) show_line(rank, std::exchange(one.line, {}));
  one.status = status;
  if (status != 0 && !first_failed_) first_failed_ = rank;
  if (!WIFSIGNALED(status) || told_signal_ || is_ending_) return;
  fmt::print(stderr, "leadline: rank {} on {} died (killed by signal {}, {}). Look at the system log there\n", rank,
             hosts_[one.host].name, WTERMSIG(status), ::sigdescr_np(WTERMSIG(status)));
}

/// The command of a host has ended, and with it what its ranks could still have said.
void HostsLauncher::lose_ranks_of(std::size_t host) {
  bool is_news = false;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].host != host || ranks_[rank].status) continue;
    is_news = true;
    note_status(rank, W_EXITCODE(static_cast<int>(ExitStatus::run_failed), 0));
  }
  if (!is_news || is_ending_ || refusal_) return;
  if (!has_gathered_) {
    host_lost_at_start_ = host;
    return;
  }
  say_words(hosts_[host]);
  fmt::print(stderr, "leadline: the connection to {} is gone ({} {}). Its ranks are ended\n", hosts_[host].name,
             run_.command.front(), how_it_ended(hosts_[host].status));
}

void HostsLauncher::take_gather(std::uint32_t rank, std::string text) {
  ranks_[rank].gathered = std::move(text);
  if (!std::ranges::all_of(ranks_, [](const LaunchedRank& one) { return one.gathered.has_value(); })) return;
  HostFrame all{HostFrameKind::gathered, 0, {}};
  for (LaunchedRank& one : ranks_) all.text += *std::exchange(one.gathered, std::nullopt);
  for (LaunchedHost& host : hosts_) {
    if (host.state == LaunchedHost::State::came) send(host, all);
  }
  has_gathered_ = true;
}

/// A complaint that several ranks have is shown once, and with the host where that is not the one that prints.
void HostsLauncher::show_line(std::uint32_t rank, const std::string& line) {
  if (line.starts_with("leadline: ") && !shown_.insert(line).second) return;
  if (rank == leader_.value_or(0)) {
    fmt::print(stderr, "{}\n", line);
  } else {
    fmt::print(stderr, "{}: {}\n", hosts_[ranks_[rank].host].name, line);
  }
}

void HostsLauncher::take_err(std::uint32_t rank, std::string_view text) {
  std::string& line = ranks_[rank].line;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    line += text.substr(0, end);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
    show_line(rank, std::exchange(line, {}));
  }
}

void HostsLauncher::take(std::size_t host, HostFrame frame) {
  if (frame.kind == HostFrameKind::refused) {
    if (!refusal_) refusal_ = fmt::format("{}: {}", hosts_[host].name, frame.text);
    return;
  }
  if (frame.rank >= ranks_.size() || ranks_[frame.rank].host != host) return;
  switch (frame.kind) {
    case HostFrameKind::gather:
      return take_gather(frame.rank, std::move(frame.text));
    case HostFrameKind::leads:
      leader_ = frame.rank;
      return;
    case HostFrameKind::out:
      is_read_ = is_read_ && write_whole(STDOUT_FILENO, frame.text);
      return;
    case HostFrameKind::err:
      return take_err(frame.rank, frame.text);
    case HostFrameKind::reported:
      is_reported_ = true;
      return;
    case HostFrameKind::ended:
      return note_status(frame.rank, static_cast<int>(Reader(frame.text).number<std::uint32_t>()));
    default:
      return;
  }
}

int HostsLauncher::wait() {
  std::optional<Deadline> give_up_at, ends_after_report;
  while (!is_over()) {
    step(poll_interval_ms);
    if (refusal_) {
      throw Error(ExitStatus::something_missing, "the ranks cannot be started", *refusal_,
                  "Start it in a folder that all hosts have, such as a shared home, or /tmp");
    }
    if (host_lost_at_start_) {
      const LaunchedHost& host = hosts_[*host_lost_at_start_];
      say_words(host);
      throw Error(ExitStatus::run_failed, fmt::format("{} did not start", host.name),
                  fmt::format("{} {}", run_.command.front(), how_it_ended(host.status)), "Look at what it says above");
    }
    // Before all know of each other nothing goes on without a rank; later the leader says whether it does.
    const bool is_failing = first_failed_ && (!leader_ || leader().status);
    if ((is_failing || told_signal_) && !give_up_at) {
      give_up_at = Deadline::after(has_gathered_ ? std::chrono::nanoseconds(patience_after_rank_failed) : 1s);
    }
    if (leader().status && !give_up_at) give_up_at = Deadline::after(patience_after_rank_failed);
    // The others end at once, but for those that the kernel keeps.
    if (is_reported_ && !ends_after_report) ends_after_report = Deadline::after(patience_with_one_left);
    if ((give_up_at && give_up_at->has_passed()) || (ends_after_report && ends_after_report->has_passed())) break;
  }
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!is_reported_ || ranks_[rank].status) continue;
    fmt::print(stderr, "leadline: rank {} on {} has not ended. Look whether it is inside the kernel there\n", rank,
               hosts_[ranks_[rank].host].name);
  }
  end_commands();
  return outcome();
}

int HostsLauncher::outcome() const {
  if (!first_failed_) return 0;
  const std::optional<int>& status = leader().status;
  const bool has_ended_itself = status && WIFEXITED(*status) && (*status != 0 || leader_);
  return has_ended_itself ? WEXITSTATUS(*status) : static_cast<int>(ExitStatus::run_failed);
}

/// Closed connections end what is left on the hosts; a command that stays is killed.
void HostsLauncher::end_commands() {
  is_ending_ = true;
  for (LaunchedHost& host : hosts_) {
    host.to = Descriptor();
    if (host.state != LaunchedHost::State::came && !host.has_ended) ::kill(-host.pid, SIGTERM);
  }
  const auto has_ended = [](const LaunchedHost& host) { return host.has_ended; };
  const std::chrono::nanoseconds patience =
      is_reported_ && !is_over() ? patience_after_closing_with_one_left : patience_after_closing;
  const auto deadline = Deadline::after(patience);
  while (!std::ranges::all_of(hosts_, has_ended) && !deadline.has_passed()) {
    try {
      step(deadline.left_ms());
    } catch (const Error&) {  // what cannot be read is of no interest any more
    }
  }
  for (const LaunchedHost& host : hosts_) {
    if (!host.has_ended) ::kill(-host.pid, SIGKILL);
  }
  // One that is inside the kernel may stay.
  for (int tries = 0; tries < 20 && !std::ranges::all_of(hosts_, has_ended); ++tries) {
    for (LaunchedHost& host : hosts_) {
      if (!host.has_ended) host.has_ended = ::waitpid(host.pid, &host.status, WNOHANG) == host.pid;
    }
    ::poll(nullptr, 0, 50);
  }
}

}  // namespace

int launch_on_hosts(const HostsRun& run) {
  std::fflush(nullptr);
  allow_descriptors(3 * static_cast<int>(run.hosts.size()));
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored, commands cannot be waited for
  return HostsLauncher(run).run();
}

}  // namespace leadline::cluster
