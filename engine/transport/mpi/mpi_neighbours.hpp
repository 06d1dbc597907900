// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over MPI point-to-point messages: blocking calls, or testing ones to yield.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.hpp"
#include "core/yielding_wait.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/mpi/library.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

/// How the library is asked to wait.
enum class Calls {
  blocking,  ///< in its own way, which is to spin, except where it gives the core away itself
  testing,   ///< not at all: between two tests the core is given away
};

/// See kernel/neighbours.hpp. Looks at no return value: errors come as exceptions from the communicator's handler.
template <Calls calls>
class MpiNeighbours {
 public:
  MpiNeighbours(MPI_Comm comm, const kernel::NeighbourExchange& exchange, const kernel::NeighbourBuffers& buffers)
      : comm_(comm),
        shape_(exchange.message_size_bytes),
        requests_(2 * exchange.channels.size(), MPI_REQUEST_NULL),
        channel_of_send_(exchange.channels.size()),
        channel_of_receive_(exchange.channels.size()),
        middle_(requests_.data() + exchange.channels.size()) {
    channels_.reserve(exchange.channels.size());
    for (const kernel::NeighbourChannel& channel : exchange.channels) {
      const std::size_t offset_bytes = channel.slot * buffers.stride_bytes;
      channels_.push_back({buffers.send + offset_bytes, buffers.receive + offset_bytes, channel.partner});
    }
  }

  void barrier() {
    if constexpr (calls == Calls::blocking) {
      MPI_Barrier(comm_);
    } else {
      MPI_Request request;
      MPI_Ibarrier(comm_, &request);
      finish(request);
    }
  }

  void start() const {}

  void send(std::size_t channel) {
    const ChannelEnds& at = channels_[channel];
    if constexpr (calls == Calls::blocking) {
      MPI_Send(at.out, shape_.count(), shape_.type(), at.partner, tag, comm_);
    } else {
      MPI_Request request;
      MPI_Isend(at.out, shape_.count(), shape_.type(), at.partner, tag, comm_, &request);
      finish(request);
    }
  }

  void receive(std::size_t channel) {
    const ChannelEnds& at = channels_[channel];
    if constexpr (calls == Calls::blocking) {
      MPI_Recv(at.in, shape_.count(), shape_.type(), at.partner, tag, comm_, MPI_STATUS_IGNORE);
    } else {
      MPI_Request request;
      MPI_Irecv(at.in, shape_.count(), shape_.type(), at.partner, tag, comm_, &request);
      finish(request);
    }
  }

  void post_send(std::size_t channel) {
    const ChannelEnds& at = channels_[channel];
    channel_of_send_[static_cast<std::size_t>(num_sends_)] = channel;
    MPI_Isend(at.out, shape_.count(), shape_.type(), at.partner, tag, comm_, middle_ - ++num_sends_);
  }

  void post_receive(std::size_t channel) {
    const ChannelEnds& at = channels_[channel];
    channel_of_receive_[static_cast<std::size_t>(num_receives_)] = channel;
    MPI_Irecv(at.in, shape_.count(), shape_.type(), at.partner, tag, comm_, middle_ + num_receives_++);
  }

  std::size_t await_any_receive() {
    int index = 0;
    await_any(num_receives_, middle_, index);
    ++num_taken_;
    return channel_of_receive_[static_cast<std::size_t>(index)];
  }

  std::size_t await_any_posted() {
    int index = MPI_UNDEFINED, done = 0;
    // Which of several that are done the library tells first is not said; it might always be a send.
    if (num_receives_ > 0) MPI_Testany(num_receives_, middle_, &index, &done, MPI_STATUS_IGNORE);
    if (done) return take_receive(index);
    await_any(num_sends_ + num_receives_, middle_ - num_sends_, index);
    return index < num_sends_ ? take_send(num_sends_ - 1 - index) : take_receive(index - num_sends_);
  }

  void complete_posted() {
    const int num = num_sends_ + (num_taken_ == num_receives_ ? 0 : num_receives_);
    MPI_Request* const first = middle_ - num_sends_;
    if constexpr (calls == Calls::blocking) {
      MPI_Waitall(num, first, MPI_STATUSES_IGNORE);
    } else {
      YieldingWait idle;
      for (int done = 0;;) {
        MPI_Testall(num, first, &done, MPI_STATUSES_IGNORE);
        if (done) break;
        idle.pause();
      }
    }
    num_sends_ = num_receives_ = num_taken_ = 0;
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  static constexpr int tag = 0;

  struct ChannelEnds {
    const std::byte* out;
    std::byte* in;
    int partner;
  };

  static void await_any(int num, MPI_Request* first, int& index) {
    if constexpr (calls == Calls::blocking) {
      MPI_Waitany(num, first, &index, MPI_STATUS_IGNORE);
    } else {
      YieldingWait idle;
      for (int done = 0;;) {
        MPI_Testany(num, first, &index, &done, MPI_STATUS_IGNORE);
        if (done) break;
        idle.pause();
      }
    }
  }

  /// The last one takes its place.
  std::size_t take_send(int place) {
    middle_[-1 - place] = middle_[-num_sends_];
    return take(channel_of_send_, num_sends_, place);
  }
  std::size_t take_receive(int place) {
    middle_[place] = middle_[num_receives_ - 1];
    return take(channel_of_receive_, num_receives_, place);
  }
  static std::size_t take(std::vector<std::size_t>& channels, int& num, int place) {
    const std::size_t channel = channels[static_cast<std::size_t>(place)];
    channels[static_cast<std::size_t>(place)] = channels[static_cast<std::size_t>(--num)];
    return channel;
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
  MessageShape shape_;
  std::vector<ChannelEnds> channels_;
  // Sends grow downwards from the middle, receives upwards: so all are one array to wait for, and so are the receives.
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> channel_of_send_, channel_of_receive_;  ///< in the order posted
  MPI_Request* middle_;
  int num_sends_ = 0, num_receives_ = 0, num_taken_ = 0;
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
