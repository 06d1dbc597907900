// SPDX-License-Identifier: Apache-2.0
// What a library of tagged messages must offer so that everything else of a transport follows from it; its waits,
// limits and addresses.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/rendezvous.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "core/yielding_wait.hpp"
#include "model/request.hpp"

namespace leadline::transport::tagged {

/// What a message is for. Messages of different kinds never meet.
enum class Kind : std::uint8_t { link, greeting, single, token };

/// Which messages match: of one kind, from one rank.
struct Tag {
  Kind kind = Kind::link;
  std::int32_t sender = 0;
};

/// 8 bits kind, 32 bits rank: for libraries with 64 bits or more.
constexpr std::uint64_t bits(Tag tag) {
  return std::uint64_t{static_cast<std::uint8_t>(tag.kind)} << 32 | static_cast<std::uint32_t>(tag.sender);
}

/// A message that the library could not carry, whatever the reason: its link is broken.
class MessageFailed : public Error {
 public:
  using Error::Error;
};

[[noreturn, gnu::cold]] inline void throw_failed(int partner, const MessageFailed& failed) {
  throw cluster::ConnectionLost(partner, "lost the connection to rank " + std::to_string(partner),
                                failed.problem() + (failed.why().empty() ? "" : ": " + failed.why()));
}

/// Does the work of a link to this partner, whose message may fail.
template <class Work>
[[gnu::always_inline]] inline void on_link(int partner, const Work& work) {
  try {
    work();
  } catch (const MessageFailed& failed) {
    throw_failed(partner, failed);
  }
}

/// Throws cluster::ConnectionLost where one of those that are waited for is lost. Empty: nothing is looked at.
using LossCheck = std::function<void()>;

/// While it lives, waits on this port make the check now and then, as long as nothing moves.
template <class P>
class WithLossCheck {
 public:
  WithLossCheck(P& port, LossCheck check) : port_(port) {
    if constexpr (P::survives_lost_partners) port_.loss_check = std::move(check);
  }
  WithLossCheck(const WithLossCheck&) = delete;
  WithLossCheck& operator=(const WithLossCheck&) = delete;
  ~WithLossCheck() {
    if constexpr (P::survives_lost_partners) port_.loss_check = nullptr;
  }

 private:
  P& port_;
};

/// Tries in vain between two checks.
constexpr unsigned tries_per_loss_check = 256;

template <class P>
[[gnu::cold, gnu::noinline]] void check_for_losses(P& port) {
  if constexpr (P::survives_lost_partners) {
    if (port.loss_check) port.loss_check();
  }
}

/// A rank's endpoint in a library. Nothing is virtual. Errors throw Error(run_failed) from functions off the hot path.
/// Where the compiler makes calls of them, the four functions of the timed loops add a twentieth to a small message
/// through shared memory; so the fast ones are always inlined.
///
/// Peer            The endpoint of another rank, cheap to copy.
/// Memory          What the library must know of a stretch of memory before messages lie in it, such as a
///                 registration; may be nothing. Movable, made and dropped outside of timings. By default, for no
///                 bytes, it is nothing.
/// Request         One message under way. Made before anything is timed, used again and again; stays where it is.
/// memory          Of `size` bytes, which stay where they are while the memory lives.
/// post_send, _receive  Do not block; `memory` holds the whole message. Messages of one tag between two ranks match in
///                 the order posted; both sizes are equal, 0 included. Up to 1 byte is done without a posted receive.
/// is_done         Whether the message is done, without driving anything. Once it has said so, the request is free.
/// progress        Drives everything on; whether anything has happened.
/// flush           Whatever was sent needs this rank no more: false where that is not so by the deadline.
/// address, open, close  A rank's address, carried to others; its endpoint, without waiting; the end of it, sends done.
/// max_message_bytes  Longer messages cannot be had.
/// keeps_endpoints Whether endpoints stay open to the end, since one side of a connection cannot be closed alone.
/// survives_lost_partners  Whether a rank can go on with others when one is lost. If so, there are besides:
///
/// loss_check      See WithLossCheck; made by every wait inside the port, too.
/// tolerate_losses Before anything is opened: endpoints are to bear the loss of their partner; whether they will.
/// abandon         Nobody waits for this message any more. The library may go on to use request and memory.
/// close_lost      As close(), but the partner is lost, or does not answer.
///
/// descriptors_per_endpoint  Open files that an endpoint costs at most, where endpoints are not kept.
///
/// bounds_posts    There where the library takes only so many messages at once; the two above then wait for room. If
///                 so, there are besides:
/// try_post_send, _receive  As those, without waiting: false, and nothing was done, where there is no room until others
///                 are done.
template <class P>
concept Port = requires(P& port, const P& same, typename P::Peer peer, typename P::Request& request, Tag tag,
                        const typename P::Memory& memory, const std::byte* from, std::byte* to, std::size_t size,
                        std::string_view address, Deadline deadline) {
  { port.memory(from, size) } -> std::same_as<typename P::Memory>;
  port.post_send(peer, tag, memory, from, size, request);
  port.post_receive(peer, tag, memory, to, size, request);
  { port.is_done(request) } -> std::same_as<bool>;
  { port.progress() } -> std::same_as<bool>;
  { port.flush(deadline) } -> std::same_as<bool>;
  { same.address() } -> std::same_as<std::string>;
  { same.max_message_bytes() } -> std::same_as<std::uint64_t>;
  { port.open(address) } -> std::same_as<typename P::Peer>;
  port.close(peer);
  requires std::same_as<decltype(P::keeps_endpoints), const bool>;
  requires std::same_as<decltype(P::survives_lost_partners), const bool>;
};

template <class P>
concept BoundsPosts = Port<P> && requires {
  requires P::bounds_posts;
};

/// Throws Error(something_missing) where the library carries no message of this size.
template <Port P>
void require_room_for(std::uint64_t message_size_bytes, const P& port) {
  if (message_size_bytes <= port.max_message_bytes()) return;
  throw Error(ExitStatus::something_missing,
              "a message of " + format_bytes(message_size_bytes) + " is longer than the library carries",
              "at most " + std::to_string(port.max_message_bytes()) + " B", "Choose a smaller --message-size");
}

/// A bound for people; the greatest number is none.
inline std::string format_bound(std::uint64_t bytes) {
  return bytes >= UINT64_MAX / 2 ? "unlimited" : format_bytes(bytes);
}

/// Drives the library on until `is_over`.
template <WaitMode wait, Port P, class IsOver>
[[gnu::always_inline]] inline void drive_until(P& port, const IsOver& is_over) {
  YieldingWait idle;
  for (unsigned num_in_vain = 0; !is_over();) {
    if (port.progress()) {
      idle.restart();
      continue;
    }
    if (++num_in_vain % tries_per_loss_check == 0) [[unlikely]]
      check_for_losses(port);
    if constexpr (wait != WaitMode::spin) idle.pause();
  }
}

/// The same, yielding, until the deadline at the latest: whether it is over.
template <Port P, class IsOver>
bool drive_until(P& port, Deadline deadline, const IsOver& is_over) {
  YieldingWait idle;
  for (unsigned num_in_vain = 0; !is_over();) {
    if (deadline.has_passed()) return false;
    if (port.progress()) {
      idle.restart();
      continue;
    }
    if (++num_in_vain % tries_per_loss_check == 0) check_for_losses(port);
    idle.pause();
  }
  return true;
}

struct Introduction {
  std::string_view protocol;  ///< for people, and to be compared: "tcp;ofi_rxm, FI_SOCKADDR_IN"
  std::string_view address;   ///< in the library's bytes
};

inline std::string in_one(const Introduction& introduction) {
  return std::string(introduction.protocol) + '\0' + std::string(introduction.address);
}

/// Lives as long as the text.
inline Introduction in_two(std::string_view text) {
  const auto end = text.find('\0');
  return end == std::string_view::npos ? Introduction{{}, text}
                                       : Introduction{text.substr(0, end), text.substr(end + 1)};
}

}  // namespace leadline::transport::tagged
