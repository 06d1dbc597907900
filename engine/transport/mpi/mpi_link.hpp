// SPDX-License-Identifier: Apache-2.0
// A link over MPI point-to-point messages: blocking calls to spin, non-blocking ones to yield.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/clock.hpp"
#include "core/yielding_wait.hpp"
#include "model/request.hpp"
#include "transport/mpi/library.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

/// See kernel/link.hpp. Looks at no return value: errors come as exceptions from the communicator's handler. Sizes
/// are those of the shape.
template <WaitMode wait>
class MpiLink {
 public:
  /// As many messages may be posted at once as there are requests, which outlive the link; so it is cheap to make.
  MpiLink(MPI_Comm comm, int partner, const MessageShape& shape, std::span<MPI_Request> requests)
      : comm_(comm), type_(shape.type()), count_(shape.count()), partner_(partner), requests_(requests) {}

  void send(const std::byte* data, std::size_t) { send(data, count_, type_); }
  void receive(std::byte* data, std::size_t) { receive(data, count_, type_); }

  void post_send(const std::byte* data, std::size_t) {
    MPI_Isend(data, count_, type_, partner_, tag, comm_, &requests_[static_cast<std::size_t>(num_posted_++)]);
  }

  void post_receive(std::byte* data, std::size_t) {
    MPI_Irecv(data, count_, type_, partner_, tag, comm_, &requests_[static_cast<std::size_t>(num_posted_++)]);
  }

  void complete_posted() {
    if constexpr (wait == WaitMode::spin) {
      MPI_Waitall(num_posted_, requests_.data(), MPI_STATUSES_IGNORE);
    } else {
      YieldingWait idle;
      for (int done = 0;;) {
        MPI_Testall(num_posted_, requests_.data(), &done, MPI_STATUSES_IGNORE);
        if (done) break;
        idle.pause();
      }
    }
    num_posted_ = 0;
  }

  void send_receipt() { send(nullptr, 0, MPI_BYTE); }
  void await_receipt() { receive(nullptr, 0, MPI_BYTE); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  static constexpr int tag = 0;

  void send(const std::byte* data, int count, MPI_Datatype type) {
    if constexpr (wait == WaitMode::spin) {
      MPI_Send(data, count, type, partner_, tag, comm_);
    } else {
      MPI_Request request;
      MPI_Isend(data, count, type, partner_, tag, comm_, &request);
      finish(request);
    }
  }

  void receive(std::byte* data, int count, MPI_Datatype type) {
    if constexpr (wait == WaitMode::spin) {
      MPI_Recv(data, count, type, partner_, tag, comm_, MPI_STATUS_IGNORE);
    } else {
      MPI_Request request;
      MPI_Irecv(data, count, type, partner_, tag, comm_, &request);
      finish(request);
    }
  }

  static void finish(MPI_Request& request) {
    YieldingWait idle;
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      idle.pause();
    }
  }

  MPI_Comm comm_;
  MPI_Datatype type_;
  int count_;
  int partner_;
  int num_posted_ = 0;
  std::span<MPI_Request> requests_;
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
