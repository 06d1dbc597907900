// SPDX-License-Identifier: Apache-2.0
// Transfers under way by POSIX AIO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/deadline.hpp"
#include "storage/posix/opened.hpp"
#include "storage/transfer.hpp"

namespace leadline::storage::posix {

/// So many transfers of one file at once. Each has a descriptor of its own, since the C library does those of one
/// descriptor one after the other.
class Background {
 public:
  /// Throws Error(run_failed) where there are not so many descriptors. `path` is for messages.
  Background(const Descriptor& file, const std::string& path, std::size_t max_started);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Transfers under way are called off or waited for, a moment at most: the memory is the caller's again. What is
  /// stuck in the kernel is left there, and what it needs is never given back.
  ~Background();

  void start(Ticket ticket, const Transfer& transfer, std::byte* data);

  /// What was asked of the transfer that was started last.
  const Transfer& transfer(Ticket ticket) const;

  /// Bytes, or an error number below 0. Throws the late error; then it is under way still and may be waited for again.
  std::int64_t wait(Ticket ticket, Deadline deadline);

 private:
  struct Slot;
  Slot& slot(Ticket ticket) const;

  std::string path_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace leadline::storage::posix
