// SPDX-License-Identifier: Apache-2.0
// What of the operations is not in the timed loops.
#include "transport/nccl/operations.hpp"

namespace leadline::transport::nccl {

Operations::Operations(const memory::cuda::Driver& driver, const Communicator& communicator)
    : driver_(driver),
      library_(library()),
      comm_(communicator.get()),
      stream_(driver),
      spare_(memory::allocator_named("cuda"), 2) {}

bool Operations::complete_by(Deadline deadline) {
  if (!has_group_) return true;
  close_group();
  while (!is_over()) {
    if (deadline.has_passed()) return false;
    sched_yield();
  }
  return true;
}

void Operations::check_network() const {
  constexpr Result in_progress = 7;
  Result result = 0;
  library_.check(library_.get_async_error(comm_, &result), "ncclCommGetAsyncError");
  if (result != in_progress) library_.check(result, "a message");
}

}  // namespace leadline::transport::nccl
