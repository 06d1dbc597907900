// SPDX-License-Identifier: Apache-2.0
// Messages over many stream sockets at once, for the modules that move their bytes by TCP.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "core/yielding_wait.hpp"
#include "model/request.hpp"
#include "transport/link_sockets.hpp"
#include "transport/messages.hpp"

namespace leadline::transport {

/// What becomes of messages to and from a peer whose link breaks.
enum class AtLoss : std::uint8_t {
  throws,
  completes,  ///< they count as done, those that are posted later, too; lost_links() tells
};

/// Messages between the same two ranks share one socket: they go out and come in whole, in the order in which they are
/// posted. All memory is there from the start. Owns no sockets.
class SocketTraffic {
 public:
  enum class Completions : std::uint8_t { receives, everything };

  /// Peer i is the other end, with rank ranks[i], of the socket fds[i]; -1: its link is not open, which counts as
  /// broken. Messages have numbers below num_messages. Where receives are handed out, each may be posted once to send
  /// and once to receive before complete_posted(); where everything is, a number is free again once it was handed out.
  SocketTraffic(std::span<const std::int32_t> ranks, std::span<const int> fds, std::size_t num_messages, WaitMode wait,
                Completions completions = Completions::receives, AtLoss at_loss = AtLoss::throws);

  /// Does not wait, but sends at once what the socket takes. Sizes are at least 1.
  void post_send(std::size_t peer, std::size_t message, const std::byte* data, std::size_t size);
  void post_receive(std::size_t peer, std::size_t message, std::byte* data, std::size_t size);

  /// The message that was done first of those to be handed out. Moves everything else that can be moved while it waits.
  /// Throws Error(run_failed) where a link breaks.
  std::size_t await_any();

  /// What can be moved at once.
  void move();

  /// As await_any(), if there is one; does not wait.
  std::optional<std::size_t> poll();

  /// Until nothing is posted any more; what was not handed out never will be.
  void complete_posted();

  /// Does `work` with the socket of a peer, which may throw ConnectionLost; nothing where that link is broken.
  template <class Work>
  void on_link(std::size_t peer, const Work& work) {
    if (is_lost(peer)) return;
    try {
      work();
    } catch (const cluster::ConnectionLost& lost) {
      lose(peer, lost);
    }
  }

  const std::vector<cluster::ConnectionLost>& lost_links() const { return lost_links_; }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  template <class Byte>
  struct Message {
    Byte* data = nullptr;
    std::size_t size = 0;
    std::size_t next = none;  ///< on the same socket
  };

  /// Messages of one socket in one direction.
  struct Queue {
    std::size_t first = none, last = none;
    std::size_t done_bytes = 0;  ///< of the first
  };

  struct Peer {
    int rank = 0, fd = -1;
    Queue out, in;
  };

  template <class Byte>
  void add(Queue& queue, std::vector<Message<Byte>>& messages, std::size_t message, Byte* data, std::size_t size);
  template <class Byte>
  bool drop_first_if_done(Queue& queue, const std::vector<Message<Byte>>& messages);

  bool is_lost(std::size_t peer) const { return peers_[peer].fd < 0; }
  void lose(std::size_t peer, const cluster::ConnectionLost& lost);
  bool send_more(Peer& peer);
  bool receive_more(Peer& peer);
  void await_events_of(std::size_t peer);
  void note_done(std::size_t message);
  std::size_t take_first_done();
  void move_until_any();
  bool move_what_is_ready(int timeout_ms);

  WaitMode wait_;
  YieldingWait idle_;
  Completions completions_;
  AtLoss at_loss_;
  std::vector<cluster::ConnectionLost> lost_links_;
  std::vector<Peer> peers_;
  std::vector<pollfd> wanted_;  ///< by peer; a negative descriptor is left alone
  std::vector<Message<const std::byte>> outgoing_;
  std::vector<Message<std::byte>> incoming_;
  std::size_t num_pending_ = 0;
  std::vector<std::size_t> done_;  ///< a ring: to be handed out, in the order in which they were done
  std::size_t first_done_ = 0, num_done_ = 0;
};

/// A message that is still under way at the end stays incomplete in its link, which is not usable afterwards.
class SocketMessages final : public Messages {
 public:
  /// Throws Error(something_missing) where not all links can be open at once.
  SocketMessages(std::span<const std::int32_t> partners, std::size_t max_tickets, const LinkSockets& sockets,
                 WaitMode wait);

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override;
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override;
  std::optional<Ticket> poll() override;
  Ticket await_any() override;
  std::span<const cluster::ConnectionLost> lost_links() const override { return traffic_.lost_links(); }

 private:
  std::size_t peer_of(int partner) const;

  std::vector<std::int32_t> ranks_;  ///< by peer, ascending
  SocketTraffic traffic_;
};

}  // namespace leadline::transport
