// SPDX-License-Identifier: Apache-2.0
// Sockets on which the measuring thread waits for other ranks, so that the watch can end the wait for one that is lost.
#pragma once

#include <map>
#include <mutex>
#include <utility>

namespace leadline::cluster {

class SocketsByRank {
 public:
  /// Keeps a socket known; gone before the socket is closed, and before SocketsByRank.
  class Entry {
   public:
    Entry() = default;
    Entry(SocketsByRank& sockets, int rank, int fd) : sockets_(&sockets), rank_(rank), fd_(fd) {
      sockets.add(rank, fd);
    }
    ~Entry() {
      if (sockets_ != nullptr) sockets_->remove(rank_, fd_);
    }
    Entry(Entry&& other) noexcept
        : sockets_(std::exchange(other.sockets_, nullptr)), rank_(other.rank_), fd_(other.fd_) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(sockets_, other.sockets_);
      std::swap(rank_, other.rank_);
      std::swap(fd_, other.fd_);
      return *this;
    }

   private:
    SocketsByRank* sockets_ = nullptr;
    int rank_ = -1, fd_ = -1;
  };

  /// From any thread: who waits on a socket of that rank finds it closed.
  void shut(int rank) const;

 private:
  void add(int rank, int fd);
  void remove(int rank, int fd);

  mutable std::mutex mutex_;
  std::multimap<int, int> fds_;  ///< by rank
};

}  // namespace leadline::cluster
