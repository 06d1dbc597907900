// SPDX-License-Identifier: Apache-2.0
// Counts what a measuring thread has achieved, for the thread that watches it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/file_call.hpp"

namespace leadline {

/// The ranks without which the measuring thread cannot go on now. Set outside timed loops, read by the watch.
class AwaitedRanks {
 public:
  struct Ranks {
    std::vector<std::int32_t> partners;    ///< of messages
    std::vector<std::int32_t> in_barrier;  ///< of the barrier around them
  };

  void set(Ranks ranks) {
    const std::lock_guard lock(mutex_);
    ranks_ = std::move(ranks);
  }
  Ranks get() const {
    const std::lock_guard lock(mutex_);
    return ranks_;
  }

 private:
  mutable std::mutex mutex_;
  Ranks ranks_;
};

/// Written by the measuring thread with relaxed stores (outside the loop over messages), read by the watch.
struct ProgressCounter {
  /// Rises whenever something was achieved: a batch timed, a barrier passed, rows written.
  std::atomic<std::uint64_t> count{0};
  /// True while the measuring thread is inside a transport, where only a partner can help it on.
  std::atomic<bool> in_transport{false};
  AwaitedRanks awaited_ranks;
  CurrentFileCall file_call;

  void advance() noexcept { count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

}  // namespace leadline
