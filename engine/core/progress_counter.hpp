// SPDX-License-Identifier: Apache-2.0
// Counts what a measuring thread has achieved, for the thread that watches it.
#pragma once

#include <atomic>
#include <cstdint>

namespace leadline {

/// Written by the measuring thread with relaxed stores (outside the loop over messages), read by the watch.
struct ProgressCounter {
  /// Rises whenever something was achieved: a batch timed, a barrier passed, rows written.
  std::atomic<std::uint64_t> count{0};
  /// True while the measuring thread is inside a transport, where only a partner can help it on.
  std::atomic<bool> in_transport{false};

  void advance() noexcept { count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

}  // namespace leadline
