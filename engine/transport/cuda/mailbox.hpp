// SPDX-License-Identifier: Apache-2.0
// Memory that two ranks of a host share: where the messages that one awaits from the other are to be copied to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace leadline::transport::cuda
