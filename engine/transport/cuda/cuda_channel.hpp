// SPDX-License-Identifier: Apache-2.0
// The channel from one rank to another: two mailboxes, a stream for the copies, and the partner's allocations that are
// open.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.hpp"
#include "memory/cuda/driver.hpp"

namespace leadline::transport::cuda {

inline constexpr std::size_t num_kinds = 4;  // of tagged::Kind

/// A receive that has been posted.
struct Posted {
  memory::cuda::IpcHandle handle;  ///< of the allocation
  std::uint64_t buffer_id = 0;     ///< of the allocation: no other of its process ever has the same
  std::byte* data = nullptr;       ///< as its own process sees it
  std::size_t offset_bytes = 0;    ///< in the allocation
  std::size_t size_bytes = 0;
};

/// Receives of one kind in the order posted; the n-th stands in slot n modulo num_slots. Both numbers only grow, also
/// from one opening of the channel to the next; empty messages may be done before they are awaited.
struct Lane {
  static constexpr std::uint64_t num_slots = 64;

  alignas(64) std::atomic<std::uint64_t> num_posted;  ///< written by the receiver
  alignas(64) std::atomic<std::uint64_t> num_done;    ///< written by the sender, whose copies end in the same order
  std::array<Posted, num_slots> slots;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// All zero in the beginning.
using Mailbox = std::array<Lane, num_kinds>;

/// Owns a mapping of a mailbox.
class MappedMailbox {
 public:
  /// Number `index` of those in the file.
  MappedMailbox(int fd, int index);
  MappedMailbox(const MappedMailbox&) = delete;
  MappedMailbox& operator=(const MappedMailbox&) = delete;
  ~MappedMailbox();

  Lane& lane(std::size_t kind) const { return (*mailbox_)[kind]; }

 private:
  Mailbox* mailbox_;
};

/// The mailboxes of one rank, one for every rank, in a file without a name; pages that nobody uses are never there.
/// Throws Error(something_missing) where it cannot be made. The caller closes it.
int make_mailboxes(int num_ranks);

/// Opens the same file in another process of this host: throws Error(something_missing) with the reason.
int open_mailboxes(int pid, int fd);

/// What must be known of GPU memory before messages arrive in it.
struct GpuMemory {
  memory::cuda::IpcHandle handle{};
  std::uint64_t buffer_id = 0;
  std::byte* base = nullptr;  ///< null where this is no memory of a GPU that others can open
};

/// A message under way: done when the number of those done has passed its own.
struct Request {
  const std::atomic<std::uint64_t>* num_done = nullptr;
  std::uint64_t number = 0;

  // What a message has that still waits: a send for its receive, a receive for a free slot.
  Request* next = nullptr;
  const GpuMemory* memory = nullptr;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t size_bytes = 0;
};

/// Those that wait, in order, chained through themselves.
class Queue {
 public:
  bool is_empty() const { return first_ == nullptr; }
  Request& first() const { return *first_; }

  void add(Request& request) {
    request.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &request;
    last_ = &request;
  }
  void drop_first() { first_ = first_->next; }

 private:
  Request* first_ = nullptr;
  Request* last_ = nullptr;
};

/// The sender copies into the receiver's memory. One stream, on which copies end in the order in which they began; one
/// event behind the last of them, recorded anew when it has happened: so a message costs one call of the driver, and
/// those that are posted close to each other are found done together.
class CudaChannel {
 public:
  /// `mailboxes`: files of this rank and of the partner.
  CudaChannel(const memory::cuda::Driver& driver, int own_rank, int own_mailboxes, int partner, int partner_mailboxes);
  CudaChannel(const CudaChannel&) = delete;
  CudaChannel& operator=(const CudaChannel&) = delete;
  ~CudaChannel();

  /// Of size 0: nothing is copied, and so no receive is waited for.
  void post_send(std::size_t kind, const std::byte* from, std::size_t size_bytes, Request& request) {
    Outgoing& out = out_[kind];
    request.num_done = &out.lane->num_done;
    request.number = out.num_posted++;
    if (out.waiting.is_empty() && may_start(out, size_bytes)) return start(out, from, size_bytes);
    request.from = from;
    request.size_bytes = size_bytes;
    out.waiting.add(request);
    ++num_waiting_;
  }

  void post_receive(std::size_t kind, const GpuMemory& memory, std::byte* to, std::size_t size_bytes,
                    Request& request) {
    Incoming& in = in_[kind];
    request.num_done = &in.lane->num_done;
    request.number = in.num_posted++;
    if (in.waiting.is_empty() && has_slot(in)) return publish(in, memory, to, size_bytes);
    request.memory = &memory;
    request.to = to;
    request.size_bytes = size_bytes;
    in.waiting.add(request);
    ++num_waiting_;
  }

  /// Whether anything has moved.
  bool progress();

  /// Whether there is nothing to drive on here; receives that the partner knows of are the partner's.
  bool is_idle() const { return num_waiting_ == 0 && !has_event_ && !has_copies_; }

  bool is_listed = false;  ///< among those that are driven on

 private:
  struct Outgoing {
    Lane* lane = nullptr;
    std::uint64_t num_posted = 0, num_started = 0;
    std::uint64_t num_before_event = 0;
    Queue waiting;
  };
  struct Incoming {
    Lane* lane = nullptr;
    std::uint64_t num_posted = 0, num_published = 0;
    Queue waiting;
  };
  struct Opened {
    std::uint64_t buffer_id = 0;
    std::byte* base = nullptr;
  };

  static bool may_start(const Outgoing& out, std::size_t size_bytes) {
    return size_bytes == 0 || out.lane->num_posted.load(std::memory_order_acquire) > out.num_started;
  }
  static bool has_slot(const Incoming& in) {
    return in.num_published < in.lane->num_done.load(std::memory_order_acquire) + Lane::num_slots;
  }

  void start(Outgoing& out, const std::byte* from, std::size_t size_bytes);
  static void publish(Incoming& in, const GpuMemory& memory, std::byte* to, std::size_t size_bytes);
  std::byte* reach(const Posted& posted);
  std::byte* open(const Posted& posted);
  void finish_copies();
  void close_all_but(std::size_t num_kept);  ///< those used last; no copy may be under way
  bool start_waiting();
  bool publish_waiting();
  bool look_at_event();

  const memory::cuda::Driver& driver_;
  bool is_loop_;
  MappedMailbox in_mailbox_, out_mailbox_;
  std::array<Outgoing, num_kinds> out_;
  std::array<Incoming, num_kinds> in_;
  std::size_t num_waiting_ = 0;
  memory::cuda::OwnedStream stream_;
  memory::cuda::OwnedEvent event_;
  bool has_event_ = false;    ///< one is recorded and has not happened
  bool has_copies_ = false;   ///< some have begun behind it
  std::vector<Opened> open_;  ///< the one used last is the last
};

}  // namespace leadline::transport::cuda
