// SPDX-License-Identifier: Apache-2.0
// One tree connection for collectives: whole frames, sent and received by the measuring thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/socket.hpp"
#include "cluster/waiter.hpp"

namespace leadline::cluster {

/// What a frame is for; both ends must mean the same.
enum class Operation : std::uint8_t { reduce = 1, result, broadcast, barrier, release, item, end_of_items };

struct Frame {
  Operation operation = Operation::barrier;
  std::uint32_t sequence = 0;  ///< which collective of the run, modulo 2^24
};

/// Thrown and caught inside cluster/: the other end is gone, or says something that cannot be.
struct BrokenEdge {
  int rank = 0;
  bool is_nonsense = false;
};

class Edge {
 public:
  /// `socket` is non-blocking.
  Edge(int rank, Socket socket, const Waiter& waiter) : rank_(rank), socket_(std::move(socket)), waiter_(&waiter) {}

  int rank() const { return rank_; }
  /// Both block by way of the waiter and throw BrokenEdge.
  void send(Frame frame, std::string_view text);
  /// Into `text`, whose memory is used again. Throws where a frame of another sequence comes.
  Operation receive(std::uint32_t sequence, std::string& text);

 private:
  void read(char* to, std::size_t length);

  int rank_;
  Socket socket_;
  const Waiter* waiter_;
  char ahead_[512];  ///< bytes read but not used yet: a small frame costs one call
  std::size_t ahead_begin_ = 0, ahead_end_ = 0;
};

}  // namespace leadline::cluster
