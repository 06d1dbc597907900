// SPDX-License-Identifier: Apache-2.0
// One tree connection of the watch: small messages both ways, without ever waiting.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/socket.hpp"

namespace leadline::cluster {

class WatchEdge {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Message : std::uint8_t {
    host = 1,   ///< the first one: the name of the sender's host
    heartbeat,  ///< still there
    failure,    ///< the run ends, and why
    reported,   ///< the sender has told the user why
    goodbye,    ///< the sender leaves in order
  };

  WatchEdge(int rank, Socket socket, Clock::time_point now) : rank_(rank), socket_(std::move(socket)), heard_(now) {}

  /// Does not block; what the connection cannot take now goes with the next call.
  void send(Message message, std::string_view text = {});
  void flush();
  /// Takes in all that has come, and notes when the connection has ended.
  void receive(Clock::time_point now, const std::function<void(Message, std::string_view)>& take);

  int rank() const { return rank_; }
  int fd() const { return socket_.fd(); }
  bool has_more_to_send() const { return !outgoing_.empty(); }
  Clock::time_point heard() const { return heard_; }
  void forgive(Clock::duration pause) { heard_ += pause; }
  /// 0 = closed by the other side; else the error that ended the connection. Nothing while it stands.
  std::optional<int> end() const { return end_; }
  std::string who() const;  ///< "rank 3 on node1"

  std::string host;       ///< empty until it is known
  bool has_left = false;  ///< it said goodbye: whatever happens now is no failure
  bool has_reported = false;
  bool is_lost = false;  ///< its end or silence has been noticed; nothing more is expected of it

 private:
  int rank_;
  Socket socket_;
  std::string incoming_, outgoing_;
  Clock::time_point heard_;
  std::optional<int> end_;
};

}  // namespace leadline::cluster
