// SPDX-License-Identifier: Apache-2.0
// Marks a thread as blocked inside a transport call.
#pragma once

#include "core/progress_counter.hpp"

namespace leadline::bench {

/// Tells the watch that only a partner can help this thread on.
class InTransport {
 public:
  explicit InTransport(ProgressCounter& progress_counter) : progress_counter_(progress_counter) {
    progress_counter_.advance();
    progress_counter_.in_transport.store(true, std::memory_order_relaxed);
  }
  ~InTransport() {
    progress_counter_.in_transport.store(false, std::memory_order_relaxed);
    progress_counter_.advance();
  }
  InTransport(const InTransport&) = delete;
  InTransport& operator=(const InTransport&) = delete;

 private:
  ProgressCounter& progress_counter_;
};

}  // namespace leadline::bench
