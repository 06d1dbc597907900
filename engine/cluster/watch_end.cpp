// SPDX-License-Identifier: Apache-2.0
// The end of a failed run: who says why, when, and when everybody goes.
#include <unistd.h>

#include <atomic>
#include <exception>
#include <memory>

#include "cluster/tree.hpp"
#include "cluster/watch.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;

// For a better founded reason to arrive: it crosses the tree in milliseconds, on loaded cores in tens of them.
constexpr auto grace = 300ms;
// How long a rank stays for the sake of the one that reports: normally until its parent is gone. One that has
// lost its parent cannot know, and stays long enough for the grace and a few writes.
constexpr auto stay_max = 6s;
constexpr auto stay_of_orphan = 2s;
// on_failure writes to a file system that may be what failed.
constexpr auto on_failure_patience = 5s;

constexpr auto stuck_watch_patience = 30s;

std::string line_of(const Failure& failure) { return std::string("leadline: ") + failure.error.what() + "\n"; }

void write_line(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(STDERR_FILENO, line.data() + at, line.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace

void Watch::abort(Failure failure) {
  if (thread_.joinable()) {
    order([&](Orders& orders) { orders.failure = failure; });
    std::this_thread::sleep_for(settings_.timeout + stuck_watch_patience);
  }
  // After leave() nobody else can say it; before, the watch has ended the process unless it is itself stuck.
  write_line(line_of(failure));
  ::_exit(static_cast<int>(failure.error.status()));
}

void Watch::await_end(const BrokenEdge& broken) {
  order([&](Orders& orders) { orders.broken = broken; });
  std::this_thread::sleep_for(settings_.timeout + stuck_watch_patience);
  ::_exit(static_cast<int>(ExitStatus::run_failed));
}

const WatchEdge* Watch::parent() const {
  for (const WatchEdge& edge : edges_) {
    if (settings_.rank > 0 && edge.rank() == parent_of(settings_.rank)) return &edge;
  }
  return nullptr;
}

bool Watch::reports() const {
  if (settings_.rank == 0) return true;
  const WatchEdge* above = parent();
  return settings_.rank == 1 && (above == nullptr || (above->is_lost && !above->has_reported));
}

void Watch::consider_the_end() {
  const auto time = now_ - failing_since_;
  if (reports()) {
    if (failure_->grounds == Grounds::died || time > grace) report();
    return;
  }
  const WatchEdge* above = parent();
  const bool is_orphan = above == nullptr || above->is_lost || above->has_left;
  const bool is_told = above != nullptr && above->has_reported;
  if (is_told || parent_ended_after_failure_ || time > (is_orphan ? stay_of_orphan : stay_max)) end();
}

void Watch::report() {
  const std::string message = failure_->error.what();
  const std::string line = line_of(*failure_);
  const int status = static_cast<int>(failure_->error.status());
  std::function<void(const std::string&)> on_failure;
  {
    const std::lock_guard lock(mutex_);
    on_failure = on_failure_;
  }
  bootstrap_.reporting();
  if (on_failure) {
    const auto is_said = std::make_shared<std::atomic<bool>>(false);
    std::thread([line, status, is_said] {
      std::this_thread::sleep_for(on_failure_patience);
      if (is_said->exchange(true)) return;
      write_line(line);
      ::_exit(status);
    }).detach();
    try {
      on_failure(message);
    } catch (const std::exception&) {
      // The reason of the run's end is worth more than that of a file which could not be marked.
    }
    if (is_said->exchange(true)) std::this_thread::sleep_for(on_failure_patience);
  }
  write_line(line);
  end();
}

void Watch::end() {
  const bool is_said = reports() || parent() == nullptr || parent()->has_reported;
  for (WatchEdge& edge : edges_) {
    if (is_said) edge.send(WatchEdge::Message::reported);
  }
  ::_exit(static_cast<int>(failure_->error.status()));
}

}  // namespace leadline::cluster
