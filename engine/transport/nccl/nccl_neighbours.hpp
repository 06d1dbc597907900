// SPDX-License-Identifier: Apache-2.0
// The channels to many neighbours over NCCL: a group for what is posted, another for the answers to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "kernel/barrier.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "model/request.hpp"
#include "transport/nccl/library.hpp"
#include "transport/socket_link.hpp"
#include "transport/socket_neighbours.hpp"

namespace leadline::transport::nccl {

/// See kernel/neighbours.hpp. All messages of a group arrive together. The barrier's tokens go by sockets: they would
/// otherwise be groups of their own, which take a GPU longer than a socket.
template <WaitMode wait>
class NcclNeighbours {
 public:
  NcclNeighbours(Operations& operations, const Neighbourhood& around, const kernel::NeighbourExchange& exchange,
                 const kernel::NeighbourBuffers& buffers)
      : operations_(operations), around_(around), exchange_(exchange), buffers_(buffers) {
    for (auto* const channels : {&posted_, &answers_, &sent_, &arrived_}) channels->reserve(exchange.channels.size());
  }

  void barrier() { kernel::disseminate(*this, around_.barrier_rounds.size()); }
  void start() const {}

  void send(std::size_t channel) {
    add_send(channel);
    operations_.template complete<wait>();
  }

  void receive(std::size_t channel) {
    add_receive(channel);
    operations_.template complete<wait>();
  }

  void post_send(std::size_t channel) {
    sent_.push_back(channel);
    add_send(channel);
  }

  /// Where a rank is asked and asks, the answers to it are for the next group: whoever gives them gives them behind the
  /// group in which it was asked, and would wait for ours as we for theirs.
  void post_receive(std::size_t channel) {
    const kernel::Part part = exchange_.channels[channel].part;
    is_asked_ |= part == kernel::Part::answers;
    if (is_asked_ && part == kernel::Part::both) return answers_.push_back(channel);
    add_receive(channel);
    posted_.push_back(channel);
  }

  std::size_t await_any_receive() {
    if (num_handed_out_ == arrived_.size()) complete_group();
    return arrived_[num_handed_out_++];
  }

  /// A group is done as a whole: a rank's receive is there when its send is out, too.
  std::size_t await_any_posted() {
    if (num_handed_out_ == arrived_.size()) {
      complete_group();
      arrived_.insert(arrived_.end(), sent_.begin(), sent_.end());
      sent_.clear();
    }
    return arrived_[num_handed_out_++];
  }

  void complete_posted() {
    while (operations_.has_group() || !answers_.empty()) complete_group();
    arrived_.clear();
    sent_.clear();
    num_handed_out_ = 0;
    is_asked_ = false;
  }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

  // See kernel/barrier.hpp.
  void send_token(std::size_t round) {
    const std::byte token{1};
    socket(around_.barrier_rounds[round].to).send(&token, 1);
  }
  void await_token(std::size_t round) {
    std::byte token;
    socket(around_.barrier_rounds[round].from).receive(&token, 1);
  }

 private:
  void complete_group() {
    if (posted_.empty()) {
      for (const std::size_t channel : answers_) add_receive(channel);
      std::swap(posted_, answers_);
    }
    operations_.template complete<wait>();
    arrived_.clear();
    num_handed_out_ = 0;
    std::swap(arrived_, posted_);
  }

  void add_send(std::size_t channel) {
    operations_.add_send(partner(channel), buffers_.send + offset_bytes(channel), exchange_.message_size_bytes);
  }
  void add_receive(std::size_t channel) {
    operations_.add_receive(partner(channel), buffers_.receive + offset_bytes(channel), exchange_.message_size_bytes);
  }

  SocketStream<wait> socket(std::size_t peer) const {
    return {{around_.fds[peer], around_.fds[peer]}, around_.ranks[peer]};
  }
  int partner(std::size_t channel) const { return exchange_.channels[channel].partner; }
  std::size_t offset_bytes(std::size_t channel) const {
    return exchange_.channels[channel].slot * buffers_.stride_bytes;
  }

  Operations& operations_;
  const Neighbourhood& around_;
  const kernel::NeighbourExchange& exchange_;
  kernel::NeighbourBuffers buffers_;
  std::vector<std::size_t> posted_;   ///< channels of receives in the group that is open
  std::vector<std::size_t> answers_;  ///< of those for the next
  std::vector<std::size_t> sent_;     ///< of sends that were not handed out
  std::vector<std::size_t> arrived_;  ///< of the group that is done
  std::size_t num_handed_out_ = 0;
  bool is_asked_ = false;
};

}  // namespace leadline::transport::nccl
