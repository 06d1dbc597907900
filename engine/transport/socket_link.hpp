// SPDX-License-Identifier: Apache-2.0
// A link over stream sockets, one type for each way of waiting; for the modules that move their bytes by TCP.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "core/yielding_wait.hpp"
#include "model/request.hpp"
#include "transport/buffers.hpp"
#include "transport/link_sockets.hpp"

namespace leadline::transport {

/// Throws Error(run_failed): the link to `partner` broke. 0 = the partner closed it.
[[noreturn, gnu::cold]] void throw_lost(int partner, int error_number);

/// A blocking call that ended early: `result` is what send(2) or recv(2) returned. Finishes the message or throws.
[[gnu::cold]] void finish_send(int fd, int partner, const std::byte* data, std::size_t size, ssize_t result);
[[gnu::cold]] void finish_receive(int fd, int partner, std::byte* data, std::size_t size, ssize_t result);

/// Whether a call that was not to wait got anything through; throws where the link is broken.
inline bool has_moved(ssize_t result, int partner) {
  if (result > 0) return true;
  if (result == 0) throw_lost(partner, 0);
  if (errno != EAGAIN && errno != EINTR) throw_lost(partner, errno);
  return false;
}

/// Sleeps until `ends.out` takes or `ends.in` has data, as far as `events` ask for it (POLLOUT, POLLIN).
void sleep_until_ready(LinkEnds ends, short events);

/// One message after the other over a connected pair of ends, in either direction. Sizes are at least 1: a stream has
/// no empty messages. Owns no sockets, and so is cheap to make.
template <WaitMode wait>
class SocketStream {
 public:
  SocketStream(LinkEnds ends, int partner) : ends_(ends), partner_(partner) {}

  LinkEnds ends() const { return ends_; }

  void send(const std::byte* data, std::size_t size) const {
    if constexpr (wait == WaitMode::block) {
      const ssize_t result = ::send(ends_.out, data, size, MSG_NOSIGNAL);
      if (result != static_cast<ssize_t>(size)) [[unlikely]]
        finish_send(ends_.out, partner_, data, size, result);
    } else {
      YieldingWait idle;
      for (std::size_t done = 0; done < size;) {
        const ssize_t result = ::send(ends_.out, data + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (has_moved(result, partner_)) {
          done += static_cast<std::size_t>(result);
          idle.restart();
        } else {
          give_way(POLLOUT, idle);
        }
      }
    }
  }

  void receive(std::byte* data, std::size_t size) const {
    if constexpr (wait == WaitMode::block) {
      const ssize_t result = ::recv(ends_.in, data, size, MSG_WAITALL);
      if (result != static_cast<ssize_t>(size)) [[unlikely]]
        finish_receive(ends_.in, partner_, data, size, result);
    } else {
      YieldingWait idle;
      for (std::size_t done = 0; done < size;) {
        const ssize_t result = ::recv(ends_.in, data + done, size - done, MSG_DONTWAIT);
        if (has_moved(result, partner_)) {
          done += static_cast<std::size_t>(result);
          idle.restart();
        } else {
          give_way(POLLIN, idle);
        }
      }
    }
  }

  /// As has_moved().
  bool moved(ssize_t result) const { return has_moved(result, partner_); }

  /// Until more can be moved, as far as `events` ask for it, or for a moment.
  void give_way(short events, YieldingWait& idle) const {
    if constexpr (wait == WaitMode::block) sleep_until_ready(ends_, events);
    if constexpr (wait == WaitMode::yield) idle.pause();
  }

 private:
  LinkEnds ends_;
  int partner_;
};

/// See kernel/link.hpp. Owns neither sockets nor `posted`, and so is cheap to make.
template <WaitMode wait>
class SocketLink {
 public:
  SocketLink(LinkEnds ends, int partner, Posted& posted) : stream_(ends, partner), posted_(posted) {}

  void send(const std::byte* data, std::size_t size) { stream_.send(data, size); }
  void receive(std::byte* data, std::size_t size) { stream_.receive(data, size); }

  void post_send(const std::byte* data, std::size_t size) {
    posted_.sends.add(data);
    posted_.size = size;
  }

  void post_receive(std::byte* data, std::size_t size) {
    posted_.receives.add(data);
    posted_.size = size;
  }

  void complete_posted() {
    auto& [sends, receives, size] = posted_;
    if (!sends.is_empty() && !receives.is_empty()) drive_both();
    for (; !sends.is_empty(); sends.drop_first()) send(sends.first(), size);
    for (; !receives.is_empty(); receives.drop_first()) receive(receives.first(), size);
  }

  void send_receipt() {
    const std::byte receipt{1};
    send(&receipt, 1);
  }

  void await_receipt() {
    std::byte receipt;
    receive(&receipt, 1);
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  /// Both directions in turn, never blocking in one: with full socket buffers at both ends a blocking send would
  /// wait for a partner that waits likewise. Returns when one direction is done and no message of the other is
  /// incomplete.
  void drive_both() {
    const LinkEnds ends = stream_.ends();
    auto& [sends, receives, size] = posted_;
    std::size_t sent = 0, received = 0;
    YieldingWait idle;
    while ((!sends.is_empty() && !receives.is_empty()) || sent > 0 || received > 0) {
      bool any = false;
      if (!sends.is_empty()) {
        const auto* const rest = sends.first() + sent;
        any |= advance(::send(ends.out, rest, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT), sent, sends);
      }
      if (!receives.is_empty()) {
        auto* const rest = receives.first() + received;
        any |= advance(::recv(ends.in, rest, size - received, MSG_DONTWAIT), received, receives);
      }
      if (any) {
        idle.restart();
      } else {
        const int events = (sends.is_empty() ? 0 : POLLOUT) | (receives.is_empty() ? 0 : POLLIN);
        stream_.give_way(static_cast<short>(events), idle);
      }
    }
  }

  template <class Byte>
  bool advance(ssize_t result, std::size_t& done, PostedQueue<Byte>& queue) {
    if (!stream_.moved(result)) return false;
    done += static_cast<std::size_t>(result);
    if (done == posted_.size) {
      done = 0;
      queue.drop_first();
    }
    return true;
  }

  SocketStream<wait> stream_;
  Posted& posted_;
};

}  // namespace leadline::transport
