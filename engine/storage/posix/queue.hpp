// SPDX-License-Identifier: Apache-2.0
// Transfers under way by io_uring, done in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "storage/posix/opened.hpp"
#include "storage/transfer.hpp"

namespace leadline::storage::posix {

/// So many transfers of one file at once. Linux 5.11. One thread at a time.
class Queue {
 public:
  /// Throws Error(something_missing) where the kernel has no io_uring, or forbids it. `path` is for messages; the file
  /// outlives it.
  Queue(const Descriptor& file, std::string path, std::size_t max_started, CachePath cache_path);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Transfers under way are waited for, a moment at most.
  ~Queue();

  /// May do the transfer at once. Of more than 2 GiB, so much.
  void start(Ticket ticket, const Transfer& transfer, std::byte* data);

  /// What was asked of the transfer that was started last.
  const Transfer& transfer(Ticket ticket);

  /// Bytes, or an error number below 0. Throws the late error; then it is under way still and may be waited for again.
  std::int64_t wait(Ticket ticket, Deadline deadline);

  /// The one that was done first of those that are done and not waited for. Blocks until there is one; nothing where
  /// there was none by then, and at once where nothing is under way.
  std::optional<Ticket> wait_any(Deadline deadline);

 private:
  struct Slot {
    Transfer transfer;
    std::byte* data = nullptr;
    bool is_started = false;
    std::optional<std::int64_t> result{};
  };
  class Ring;

  Slot& slot(Ticket ticket);
  int submit(Ticket ticket);
  void take_results();

  std::string path_;
  int fd_;
  CachePath cache_path_;
  std::unique_ptr<Ring> ring_;
  std::vector<Slot> slots_;
  std::deque<Ticket> done_;  ///< in that order
  std::size_t num_in_kernel_ = 0;
};

}  // namespace leadline::storage::posix
