// SPDX-License-Identifier: Apache-2.0
// Waits for messages: the library is driven on, and the core given away between two looks where that is asked for.
#pragma once

#include <sched.h>

#include "core/deadline.hpp"
#include "model/request.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::tagged {

/// Drives the library on until `is_over`.
template <WaitMode wait, Port P, class IsOver>
inline void drive_until(P& port, const IsOver& is_over) {
  while (!is_over()) {
    const bool has_moved = port.progress();
    if constexpr (wait != WaitMode::spin) {
      if (!has_moved) sched_yield();
    }
  }
}

/// The same, yielding, until the deadline at the latest: whether it is over.
template <Port P, class IsOver>
bool drive_until(P& port, Deadline deadline, const IsOver& is_over) {
  while (!is_over()) {
    if (deadline.has_passed()) return false;
    if (!port.progress()) sched_yield();
  }
  return true;
}

}  // namespace leadline::transport::tagged
