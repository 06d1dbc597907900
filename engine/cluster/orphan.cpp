// SPDX-License-Identifier: Apache-2.0
// A rank that lost its parent and asks the root for the result of a collective, which may be over there.
#include "cluster/orphan.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "cluster/bytes.hpp"
#include "cluster/edge.hpp"

namespace leadline::cluster {
namespace {

bool is_early(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

}  // namespace

void Orphan::add_to(std::vector<pollfd>& polled) const {
  const bool is_read = state_ == State::telling || state_ == State::silent || state_ == State::reading;
  if (is_read) polled.push_back({socket_.fd(), POLLIN, 0});
  if (state_ == State::writing) polled.push_back({socket_.fd(), POLLOUT, 0});
}

void Orphan::serve(const LastResult* last) {
  if (state_ == State::telling) hear_last_result();
  if (state_ == State::silent) peek();
  if (state_ == State::waiting && last != nullptr && Frame::from(header_.data()).sequence == last->sequence) {
    num_left_ = frame_header_size_bytes + Frame::text_size(header_.data());
    put(header_.data(), static_cast<std::uint32_t>(last->text.size()));
    answer_ = header_ + last->text;
    state_ = State::reading;
  }
  if (state_ == State::reading) read();
  if (state_ == State::writing) write();
}

void Orphan::hear_last_result() {
  for (;;) {
    const bool has_header = told_.size() >= frame_header_size_bytes;
    const std::size_t size = frame_header_size_bytes + (has_header ? Frame::text_size(told_.data()) : 0);
    if (has_header && told_.size() == size) break;
    std::array<char, 4096> bytes;
    const std::size_t num_left = std::min(size - told_.size(), bytes.size());
    const ssize_t got = ::recv(socket_.fd(), bytes.data(), num_left, MSG_DONTWAIT);
    if (is_early(got)) return;
    if (got <= 0) {
      state_ = State::ended;
      return;
    }
    told_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  last_result_ = {Frame::from(told_.data()).sequence, told_.substr(frame_header_size_bytes)};
  told_ = {};
  state_ = State::silent;
}

/// What the measuring thread may have to read stays where it is.
void Orphan::peek() {
  std::array<char, frame_header_size_bytes> bytes;
  const ssize_t got = ::recv(socket_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_PEEK);
  if (is_early(got) || (got > 0 && got < ssize_t{bytes.size()})) return;
  if (got <= 0) {
    state_ = State::ended;
    return;
  }
  if (Frame::from(bytes.data()).operation == Operation::last_result) {
    state_ = State::telling;
    return hear_last_result();
  }
  header_.assign(bytes.data(), bytes.size());
  state_ = State::waiting;
}

void Orphan::read() {
  while (num_left_ > 0) {
    std::array<char, 4096> bytes;
    const ssize_t got = ::recv(socket_.fd(), bytes.data(), std::min(num_left_, bytes.size()), MSG_DONTWAIT);
    if (is_early(got)) return;
    if (got <= 0) {
      state_ = State::ended;
      return;
    }
    num_left_ -= static_cast<std::size_t>(got);
  }
  state_ = State::writing;
}

void Orphan::write() {
  while (!answer_.empty()) {
    const ssize_t sent = ::send(socket_.fd(), answer_.data(), answer_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (is_early(sent)) return;
    if (sent < 0) {
      state_ = State::ended;
      return;
    }
    answer_.erase(0, static_cast<std::size_t>(sent));
  }
  state_ = State::answered;
}

}  // namespace leadline::cluster
