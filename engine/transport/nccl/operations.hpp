// SPDX-License-Identifier: Apache-2.0
// Sends and receives of one rank, collected into groups that run one after the other.
#pragma once

#include <sched.h>

#include <cstddef>

#include "core/deadline.hpp"
#include "memory/buffer.hpp"
#include "memory/cuda/driver.hpp"
#include "model/request.hpp"
#include "transport/nccl/library.hpp"

namespace leadline::transport::nccl {

/// What is added to a group begins when the group is closed, all of it at once; NCCL runs the groups of a communicator
/// in order, so there is one under way at a time. Thread-bound, as the driver's current context is.
class Operations {
 public:
  Operations(const memory::cuda::Driver& driver, const Communicator& communicator);

  /// NCCL has no empty messages: instead of one a byte travels.
  void add_send(int partner, const std::byte* data, std::size_t size) {
    open_group();
    const std::byte* const from = size == 0 ? spare_.data() : data;
    library_.check(library_.send(from, size == 0 ? 1 : size, Library::bytes, partner, comm_, stream_.get()),
                   "ncclSend");
  }

  void add_receive(int partner, std::byte* data, std::size_t size) {
    open_group();
    std::byte* const to = size == 0 ? spare_.data() + 1 : data;
    library_.check(library_.receive(to, size == 0 ? 1 : size, Library::bytes, partner, comm_, stream_.get()),
                   "ncclRecv");
  }

  /// Whether anything has been added to a group that is not closed.
  bool has_group() const { return has_group_; }

  /// Closes the group and waits for it.
  template <WaitMode wait>
  void complete() {
    if (!has_group_) return;
    close_group();
    while (!is_over()) {
      if constexpr (wait != WaitMode::spin) sched_yield();
    }
  }

  /// The same, yielding, until the deadline at the latest: whether it is over.
  bool complete_by(Deadline deadline);

 private:
  void open_group() {
    if (!has_group_) library_.check(library_.group_start(), "ncclGroupStart");
    has_group_ = true;
  }

  void close_group() {
    has_group_ = false;
    library_.check(library_.group_end(), "ncclGroupEnd");
  }

  bool is_over() {
    const auto status = driver_.functions().stream_query(stream_.get());
    if (status != memory::cuda::not_ready) {
      driver_.check(status, "cuStreamQuery");
      return true;
    }
    if (++num_looks_ % looks_a_check == 0) [[unlikely]]
      check_network();
    return false;
  }

  /// An error of the network does not end what waits for it.
  [[gnu::cold]] void check_network() const;

  static constexpr unsigned looks_a_check = 4096;

  const memory::cuda::Driver& driver_;
  const Library& library_;
  Comm comm_;
  memory::cuda::OwnedStream stream_;
  memory::Buffer spare_;  ///< one byte to send, one to receive into
  bool has_group_ = false;
  unsigned num_looks_ = 0;
};

}  // namespace leadline::transport::nccl
