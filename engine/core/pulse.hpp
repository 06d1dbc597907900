// SPDX-License-Identifier: Apache-2.0
// The sign of life that a measuring thread leaves for the thread that watches it.
#pragma once

#include <atomic>
#include <cstdint>

namespace leadline {

/// Written by the measuring thread with relaxed stores (outside the loop over messages), read by the watch.
struct Pulse {
  /// Rises whenever something was achieved: a batch timed, a barrier passed, rows written.
  std::atomic<std::uint64_t> beats{0};
  /// True while the measuring thread is inside a transport, where only a partner can help it on.
  std::atomic<bool> in_transport{false};

  void beat() noexcept { beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

}  // namespace leadline
