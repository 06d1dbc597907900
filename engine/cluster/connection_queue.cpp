// SPDX-License-Identifier: Apache-2.0
// Connections on their way from the watch thread to the measuring thread.
#include "cluster/connection_queue.hpp"

namespace leadline::cluster {
namespace {

auto moment_of(Deadline deadline, const ProgressFunction& progress = {}) {
  return Deadline::Clock::now() + std::chrono::milliseconds(deadline.left_ms(progress));
}

}  // namespace

void ConnectionQueue::leave(Purpose purpose, int from, Descriptor socket) {
  const std::lock_guard lock(mutex_);
  if (purpose != Purpose::peer) seen_.insert({purpose, from});
  waiting_[{purpose, from}].push_back(std::move(socket));
  changed_.notify_all();
}

Descriptor ConnectionQueue::take(Purpose purpose, int from, Deadline deadline, const ProgressFunction& progress) {
  std::unique_lock lock(mutex_);
  auto entry = waiting_.end();
  const auto has_come = [&] { return (entry = waiting_.find({purpose, from})) != waiting_.end(); };
  while (!changed_.wait_until(lock, moment_of(deadline, progress), has_come)) {
    if (deadline.has_passed()) return {};
    if (!progress) continue;
    lock.unlock();
    progress();
    lock.lock();
  }
  Descriptor socket = std::move(entry->second.front());
  entry->second.pop_front();
  if (entry->second.empty()) waiting_.erase(entry);
  return socket;
}

void ConnectionQueue::note_watch_edge(int from) {
  const std::lock_guard lock(mutex_);
  seen_.insert({Purpose::watch, from});
  changed_.notify_all();
}

void ConnectionQueue::note_host(int rank) {
  const std::lock_guard lock(mutex_);
  with_host_.insert(rank);
  changed_.notify_all();
}

bool ConnectionQueue::await_host(int rank, Deadline deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, moment_of(deadline), [&] { return with_host_.contains(rank); });
}

bool ConnectionQueue::has_seen(Purpose purpose, int from) const {
  const std::lock_guard lock(mutex_);
  return seen_.contains({purpose, from});
}

}  // namespace leadline::cluster
