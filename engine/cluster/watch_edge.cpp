// SPDX-License-Identifier: Apache-2.0
// Messages of the watch: 1 byte of kind, 2 of length, then the text.
#include "cluster/watch_edge.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

#include "cluster/bytes.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t frame_header_bytes = 3;
// A stopped rank takes nothing; its heartbeats need not pile up here.
constexpr std::size_t outgoing_size_max = std::size_t{256} * 1024;

}  // namespace

void WatchEdge::send(Message message, std::string_view text) {
  if (end_ || outgoing_.size() > outgoing_size_max) return;
  append(outgoing_, static_cast<std::uint8_t>(message));
  append(outgoing_, static_cast<std::uint16_t>(text.size()));
  outgoing_.append(text);
  flush();
}

void WatchEdge::flush() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::send(socket_.fd(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      outgoing_.clear();  // receive() finds out what happened, after reading what the other still had to say
      return;
    }
    outgoing_.erase(0, static_cast<std::size_t>(sent));
  }
}

void WatchEdge::receive(Clock::time_point now, const std::function<void(Message, std::string_view)>& take_in) {
  char bytes[4096];
  while (!end_) {
    const ssize_t got = ::recv(socket_.fd(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      end_ = got == 0 || errno == ECONNRESET || errno == EPIPE ? 0 : errno;
      break;
    }
    heard_ = now;
    incoming_.append(bytes, static_cast<std::size_t>(got));
  }
  std::size_t at = 0;
  while (incoming_.size() - at >= frame_header_bytes) {
    const auto length = take<std::uint16_t>(incoming_.data() + at + 1);
    if (incoming_.size() - at < frame_header_bytes + length) break;
    const auto message = static_cast<Message>(take<std::uint8_t>(incoming_.data() + at));
    take_in(message, std::string_view(incoming_).substr(at + frame_header_bytes, length));
    at += frame_header_bytes + length;
  }
  incoming_.erase(0, at);
}

std::string WatchEdge::who() const {
  return host.empty() ? fmt::format("rank {}", rank_) : fmt::format("rank {} on {}", rank_, host);
}

}  // namespace leadline::cluster
