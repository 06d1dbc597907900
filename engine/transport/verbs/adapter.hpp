// SPDX-License-Identifier: Apache-2.0
// An open adapter: memory that it may use, the one queue in which it says what is done, and the wait for that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/yielding_wait.hpp"
#include "model/request.hpp"
#include "transport/verbs/device.hpp"
#include "transport/verbs/library.hpp"
#include "transport/verbs/peer.hpp"

namespace leadline::transport::verbs {

/// Counts into the peers what is done, sends and receives alike. Where a peer is lost of which something is under way
/// or awaited, all waits throw cluster::ConnectionLost, once for each: then it is given up.
class Adapter {
 public:
  enum class Writes { no, yes };  ///< whether partners may write into memory

  /// Throws Error(something_missing) in the library's words.
  Adapter(Port port, WaitMode wait, Writes writes);
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;
  ~Adapter();

  const Port& port() const { return port_; }
  bool takes_writes() const { return writes_ == Writes::yes; }

  /// Throws Error(something_missing) where it cannot be locked, or Error(run_failed) for messages that are too long.
  Memory memory(const std::byte* data, std::size_t size);
  void refuse_too_long(std::size_t message_size_bytes) const;

  /// A connection that is made and not connected yet; it is counted as long as it lives.
  std::unique_ptr<Peer> make_peer(std::int32_t rank);
  QueuePair make_pair() const { return {domain_.get(), queue_.get(), port_, takes_writes()}; }
  void forget(Peer& peer) {
    close(peer);
    peers_[peer.index] = nullptr;
  }

  /// Local: nothing of this peer is under way or awaited any more, and no memory is used for it. The partner finds that
  /// the socket has ended.
  void give_up(Peer& peer);

  /// How many receives each of so many peers may have posted, so that the queue never overflows.
  std::uint32_t receives_each(std::size_t num_peers) const;

  bool has_room(const Peer& peer) const {
    return peer.num_unreaped < peer.pair.num_sends && num_signalled_ < num_entries_ / 2;
  }
  void count_signalled(Peer& peer) {
    ++peer.num_signalled;
    ++num_signalled_;
  }

  /// Whether every signalled send to any partner is done.
  bool has_sent_all() const { return num_signalled_ == 0; }

  /// Whether anything was done.
  bool poll() {
    std::array<ibv_wc, 16> done;
    const int num = ibv_poll_cq(queue_.get(), static_cast<int>(done.size()), done.data());
    for (std::size_t i = 0; static_cast<int>(i) < num; ++i) {
      if (done[i].status != IBV_WC_SUCCESS) [[unlikely]] {
        take_with_failures({done.data() + i, static_cast<std::size_t>(num) - i});
        throw_failure();
        break;
      }
      take(done[i]);
    }
    if (num < 0) [[unlikely]]
      fail_polling();
    return num > 0;
  }

  /// The same for who has other work between two polls.
  bool poll_and_look() {
    if (poll()) return true;
    look_now_and_then();
    return false;
  }

  template <class IsOver>
  void wait_until(const IsOver& is_over) {
    YieldingWait waiting;
    while (!is_over()) {
      if (poll()) {
        waiting.restart();
      } else {
        idle(waiting);
      }
    }
  }

  /// The same, yielding, until the deadline at the latest: whether it is over.
  template <class IsOver>
  bool wait_until(const IsOver& is_over, Deadline deadline) {
    YieldingWait waiting;
    while (!is_over()) {
      if (deadline.has_passed()) return false;
      if (poll()) {
        waiting.restart();
        continue;
      }
      give_way(waiting);
      look_after_partners();
    }
    return true;
  }

  [[noreturn, gnu::cold]] void fail_posting(Peer& peer, int error_number);

  /// What a work request carries to tell whose it is, and how many sends are done with it.
  static std::uint64_t mark(const Peer& peer, std::uint32_t num_sends) {
    return std::uint64_t{peer.index} << 32 | num_sends;
  }

 private:
  /// Idle polls between two looks whether partners still are there, less one: about a millisecond where nobody else
  /// gets the core, and few enough where somebody has it for some milliseconds between two of them.
  static constexpr std::uint32_t spinning_look_mask = (1 << 16) - 1, yielding_look_mask = (1 << 8) - 1;

  void take(const ibv_wc& done) {
    Peer& peer = *peers_[done.wr_id >> 32];
    if ((done.opcode & IBV_WC_RECV) != 0) {
      ++peer.num_arrived;
    } else {
      peer.num_unreaped -= static_cast<std::uint32_t>(done.wr_id);
      --peer.num_signalled;
      --num_signalled_;
    }
  }

  void idle(YieldingWait& waiting) {
    if (wait_ != WaitMode::spin) give_way(waiting);
    look_now_and_then();
  }

  void look_now_and_then() {
    if ((++num_idle_polls_ & look_mask_) == 0) [[unlikely]]
      look_after_partners();
  }

  void give_way(YieldingWait& waiting);
  void sleep();
  [[gnu::cold]] void look_after_partners();
  [[gnu::cold]] void take_with_failures(std::span<const ibv_wc> done);
  [[gnu::cold]] void throw_failure();
  [[noreturn, gnu::cold]] void lose(Peer& peer, const std::string& why);
  void close(Peer& peer);
  [[noreturn, gnu::cold]] static void fail_polling();

  Port port_;
  WaitMode wait_;
  std::uint32_t look_mask_;
  Writes writes_;
  Owned<ibv_pd> domain_;
  Owned<ibv_comp_channel> channel_;  ///< to sleep at; none for the other ways of waiting
  Owned<ibv_cq> queue_;
  std::vector<Peer*> peers_;  ///< by index
  std::uint32_t num_entries_ = 0, num_signalled_ = 0;
  std::uint32_t num_idle_polls_ = 0, num_events_ = 0;
  std::uint64_t next_look_ns_ = 0;
  bool is_armed_ = false;
};

}  // namespace leadline::transport::verbs
