// SPDX-License-Identifier: Apache-2.0
// The mark for the watch while a measuring thread is with its transport.
#pragma once

#include "core/pulse.hpp"

namespace leadline::bench {

/// Tells the watch that only a partner can help this thread on.
class InTransport {
 public:
  explicit InTransport(Pulse& pulse) : pulse_(pulse) {
    pulse_.beat();
    pulse_.in_transport.store(true, std::memory_order_relaxed);
  }
  ~InTransport() {
    pulse_.in_transport.store(false, std::memory_order_relaxed);
    pulse_.beat();
  }
  InTransport(const InTransport&) = delete;
  InTransport& operator=(const InTransport&) = delete;

 private:
  Pulse& pulse_;
};

}  // namespace leadline::bench
