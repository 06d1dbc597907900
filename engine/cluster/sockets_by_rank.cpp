// SPDX-License-Identifier: Apache-2.0
// Sockets on which the measuring thread waits for other ranks, so that the watch can end the wait for one that is lost.
#include "cluster/sockets_by_rank.hpp"

#include <sys/socket.h>

namespace leadline::cluster {

void SocketsByRank::add(int rank, int fd) {
  const std::lock_guard lock(mutex_);
  fds_.emplace(rank, fd);
}

void SocketsByRank::remove(int rank, int fd) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = fds_.equal_range(rank);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second != fd) continue;
    fds_.erase(entry);
    return;
  }
}

void SocketsByRank::shut(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = fds_.equal_range(rank);
  for (auto entry = begin; entry != end; ++entry) ::shutdown(entry->second, SHUT_RDWR);
}

}  // namespace leadline::cluster
