// SPDX-License-Identifier: Apache-2.0
// One tree connection for collectives: whole frames, sent and received by the measuring thread, and how it waits for
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cluster/sockets_by_rank.hpp"
#include "core/descriptor.hpp"
#include "model/request.hpp"

namespace leadline::cluster {

class Waiter {
 public:
  /// `progress` empty: a rank may sleep. automatic counts as yield.
  void set(WaitMode mode, std::function<void()> progress);

  /// One wait: call `pause` whenever the socket had nothing. A pause never lasts longer than a second, so that
  /// the caller can look at other things too.
  class Wait {
   public:
    explicit Wait(const Waiter& waiter) : waiter_(waiter) {}
    void pause(int fd, short events);

   private:
    const Waiter& waiter_;
    int num_pauses_ = 0;
  };

 private:
  WaitMode mode_ = WaitMode::yield;
  std::function<void()> progress_;
};

/// Which collective a frame belongs to; both ends must mean the same. One of these goes up the tree and one down; items
/// go up before. To a new root goes the result of the last collective first.
enum class Operation : std::uint8_t { reduce = 1, broadcast, barrier, gather, item, last_result };

constexpr std::size_t frame_header_size_bytes = 8;

struct Frame {
  Operation operation = Operation::barrier;
  std::uint32_t sequence = 0;  ///< which collective of the run, modulo 2^24

  bool operator==(const Frame&) const = default;

  /// The header in front of a text of so many bytes.
  std::array<char, frame_header_size_bytes> header(std::size_t text_size) const;
  static Frame from(const char* header);
  static std::size_t text_size(const char* header);
};

constexpr std::uint32_t sequence_mask = 0xffffff;
/// Thrown and caught inside cluster/: the other end is gone, or says something that cannot be.
struct BrokenEdge {
  int rank = 0;
  bool is_nonsense = false;
};

class Edge {
 public:
  /// `socket` is non-blocking.
  Edge(int rank, Descriptor socket, const Waiter& waiter, SocketsByRank& sockets)
      : rank_(rank), socket_(std::move(socket)), entry_(sockets, rank, socket_.fd()), waiter_(&waiter) {}

  int rank() const { return rank_; }
  /// Both block by way of the waiter and throw BrokenEdge.
  void send(Frame frame, std::string_view text);
  /// Into `text`, whose memory is used again.
  Frame receive(std::string& text);

 private:
  void read(char* to, std::size_t length);

  int rank_;
  Descriptor socket_;
  SocketsByRank::Entry entry_;
  const Waiter* waiter_;
  char ahead_[512];  ///< bytes read but not used yet: a small frame costs one call
  std::size_t ahead_begin_ = 0, ahead_end_ = 0;
};

}  // namespace leadline::cluster
