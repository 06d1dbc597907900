// SPDX-License-Identifier: Apache-2.0
// One tree connection for collectives: whole frames, sent and received by the measuring thread, and how it waits for
// them.
#include "cluster/edge.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cluster/bytes.hpp"

namespace leadline::cluster {
namespace {

// Measured with 16 ranks on 2 cores: 0.2 ms a barrier. With 20 yields it is 0.7 ms, since those who only wait take
// the cores from those who have work; with 2 ranks on 2 cores more yields gain nothing.
constexpr int num_yields_before_sleep = 2;
// Guessed: a transport wants progress soon after its last message, or hardly at all, and ranks that wake up often take
// the cores from those that measure.
constexpr int sleep_between_progress_ms = 1;
constexpr int sleep_between_progress_max_ms = 8;
constexpr int sleep_ms = 1000;

void sleep_on(int fd, short events, int timeout_ms) {
  pollfd one{fd, events, 0};
  ::poll(&one, 1, timeout_ms);
}

// More than any text of ours; a larger number is damage, not a wish for memory.
constexpr std::uint32_t text_size_max = 1U << 30;

}  // namespace

void Waiter::set(WaitMode mode, std::function<void()> progress) {
  mode_ = mode == WaitMode::automatic ? WaitMode::yield : mode;
  progress_ = std::move(progress);
}

void Waiter::Wait::pause(int fd, short events) {
  const WaitMode mode = waiter_.mode_;
  const bool has_progress = static_cast<bool>(waiter_.progress_);
  if (has_progress) waiter_.progress_();
  if (mode == WaitMode::spin) return;
  const int num_sleeps = num_pauses_++ - (mode == WaitMode::yield ? num_yields_before_sleep : 0);
  if (num_sleeps < 0) {
    ::sched_yield();
    return;
  }
  const int progress_sleep_ms =
      std::min(sleep_between_progress_ms << std::min(num_sleeps, 16), sleep_between_progress_max_ms);
  sleep_on(fd, events, has_progress ? progress_sleep_ms : sleep_ms);
}

std::array<char, frame_header_size_bytes> Frame::header(std::size_t text_size) const {
  std::array<char, frame_header_size_bytes> bytes;
  put(bytes.data(), static_cast<std::uint32_t>(text_size));
  put(bytes.data() + 4, static_cast<std::uint32_t>(operation) | (sequence & sequence_mask) << 8);
  return bytes;
}

Frame Frame::from(const char* header) {
  const auto word = take<std::uint32_t>(header + 4);
  return {static_cast<Operation>(word & 0xff), word >> 8};
}

std::size_t Frame::text_size(const char* header) { return take<std::uint32_t>(header); }

void Edge::send(Frame frame, std::string_view text) {
  auto header = frame.header(text.size());
  const std::size_t size = frame_header_size_bytes + text.size();
  Waiter::Wait wait(*waiter_);
  for (std::size_t num_sent = 0; num_sent < size;) {
    iovec parts[2];
    msghdr message{};
    message.msg_iov = parts;
    if (num_sent < frame_header_size_bytes) {
      parts[message.msg_iovlen++] = {header.data() + num_sent, frame_header_size_bytes - num_sent};
    }
    const std::size_t text_sent = num_sent - std::min(num_sent, frame_header_size_bytes);
    // sendmsg only reads through this pointer.
    if (text_sent < text.size()) {
      parts[message.msg_iovlen++] = {const_cast<char*>(text.data()) + text_sent, text.size() - text_sent};
    }
    const ssize_t sent = ::sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      num_sent += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      wait.pause(socket_.fd(), POLLOUT);
    } else if (errno != EINTR) {
      throw BrokenEdge{rank_};
    }
  }
}

void Edge::read(char* to, std::size_t length) {
  Waiter::Wait wait(*waiter_);
  while (length > 0) {
    const std::size_t num_ahead = std::min(length, ahead_end_ - ahead_begin_);
    if (num_ahead > 0) {
      std::memcpy(to, ahead_ + ahead_begin_, num_ahead);
      ahead_begin_ += num_ahead;
      to += num_ahead;
      length -= num_ahead;
      continue;
    }
    const bool is_large = length >= sizeof ahead_;
    const ssize_t got = ::recv(socket_.fd(), is_large ? to : ahead_, is_large ? length : sizeof ahead_, MSG_DONTWAIT);
    if (got > 0 && is_large) {
      to += got;
      length -= static_cast<std::size_t>(got);
    } else if (got > 0) {
      ahead_begin_ = 0;
      ahead_end_ = static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      wait.pause(socket_.fd(), POLLIN);
    } else if (got == 0 || errno != EINTR) {
      throw BrokenEdge{rank_};
    }
  }
}

Frame Edge::receive(std::string& text) {
  char header[frame_header_size_bytes];
  read(header, sizeof header);
  const std::size_t length = Frame::text_size(header);
  if (length > text_size_max) throw BrokenEdge{rank_, true};
  text.resize(length);
  read(text.data(), length);
  return Frame::from(header);
}

}  // namespace leadline::cluster
