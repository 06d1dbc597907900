// SPDX-License-Identifier: Apache-2.0
// The messages of one measurement to and from one partner: receives posted ahead, exactly as many as will come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/verbs/adapter.hpp"

namespace leadline::transport::verbs {

/// Message k lands at place (indexes[k % n] + k / n * step) % num, n being the number of indexes.
struct MessageAddresses {
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};  ///< the index of an empty message

  std::uint64_t begin = 0;         ///< address of place 0
  std::uint64_t stride_bytes = 0;  ///< from each to the next
  std::uint32_t num = 1;
  std::uint32_t step = 0;  ///< below num
  std::uint32_t key = 0;   ///< local, or the partner's
  std::vector<std::uint32_t> indexes{};

  /// The same as a partner needs it to write: with its key, and without empty messages.
  std::string encoded(std::uint32_t remote_key) const;

  /// What a partner has sent.
  static MessageAddresses decoded(std::string_view encoded);
};

/// Walks through them.
class AddressSequence {
 public:
  AddressSequence() = default;
  explicit AddressSequence(MessageAddresses addresses) : addresses_(std::move(addresses)) {}

  std::uint32_t key() const { return addresses_.key; }

  /// The address of the next message, 0 where it is empty.
  std::uint64_t next() {
    const std::uint32_t index = addresses_.indexes[at_];
    const std::uint32_t shift = shift_;
    if (++at_ == addresses_.indexes.size()) {
      at_ = 0;
      shift_ = wrapped(shift_ + addresses_.step);
    }
    if (index == MessageAddresses::nowhere) return 0;
    return addresses_.begin + wrapped(index + shift) * addresses_.stride_bytes;
  }

 private:
  std::uint32_t wrapped(std::uint32_t index) const { return index >= addresses_.num ? index - addresses_.num : index; }

  MessageAddresses addresses_;
  std::size_t at_ = 0;
  std::uint32_t shift_ = 0;
};

/// What is known of a measurement before its first message.
struct FlowPlan {
  std::size_t message_size_bytes = 0;
  std::uint32_t send_key = 0;     ///< of the memory to send from
  MessageAddresses in{};          ///< where the partner's messages land, with the local key
  std::uint64_t num_in = 0;       ///< messages that come, empty ones included
  std::uint64_t num_out = 0;      ///< of those that post_when_due() sends
  std::uint32_t num_ahead = 256;  ///< receives that may be posted at once
};

/// When the adapter tells that a send is done: for each, or for some in a row.
enum class Notice { always, when_due };

/// Nothing here allocates once it is made. Stays where it is.
class Flow {
 public:
  Flow(Adapter& adapter, Peer& peer, FlowPlan plan);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  ~Flow() = default;

  Peer& peer() const { return peer_; }

  /// A message that the adapter copies at once leaves its buffer free.
  bool is_copied() const { return is_copied_; }

  /// From now on messages are written to where the partner said.
  void write_to(MessageAddresses places);

  /// As long as it throws, nothing has been posted.
  void post(const std::byte* data, Notice notice) {
    make_room();
    entry_.addr = reinterpret_cast<std::uintptr_t>(data);
    if (is_writing_) message_.wr.rdma.remote_addr = written_.next();
    post(message_, notice);
  }
  void post_empty() {
    make_room();
    post(empty_, Notice::always);
  }

  /// One more message is wanted, and one more receive goes in ahead for that. Which it is: the how manyeth, from 1 on.
  std::uint64_t ask() {
    if (num_posted_ < num_in_ && num_posted_ - peer_.num_arrived < num_ahead_) post_receive();
    return ++peer_.num_asked;
  }
  bool has_come(std::uint64_t which) const { return peer_.num_arrived >= which; }

  void await_arrivals() {
    adapter_.wait_until([&] {
      while (num_posted_ < num_in_ && num_posted_ - peer_.num_arrived < num_ahead_) post_receive();
      return peer_.num_arrived >= peer_.num_asked;
    });
  }
  void await_next() {
    const std::uint64_t which = ask();
    adapter_.wait_until([&] { return has_come(which); });
  }
  void await_sends() {
    adapter_.wait_until([&] { return peer_.num_unreaped == 0; });
  }

 private:
  void post(ibv_send_wr& request, Notice notice) {
    ++num_silent_;
    const bool is_told = notice == Notice::always || --num_out_ == 0 || num_silent_ == most_silent_;
    request.send_flags = is_told ? flags_of(request) | IBV_SEND_SIGNALED : flags_of(request);
    request.wr_id = Adapter::mark(peer_, num_silent_);
    ibv_send_wr* bad = nullptr;
    if (const int problem = ibv_post_send(peer_.sender(), &request, &bad); problem != 0) [[unlikely]]
      adapter_.fail_posting(peer_, problem);
    ++peer_.num_unreaped;
    if (!is_told) return;
    num_silent_ = 0;
    adapter_.count_signalled(peer_);
  }

  unsigned flags_of(const ibv_send_wr& request) const {
    return is_copied_ && request.num_sge > 0 ? unsigned{IBV_SEND_INLINE} : 0;
  }

  void post_receive() {
    into_.addr = places_.next();
    receive_.num_sge = into_.addr != 0 && into_.length > 0 && !is_written_ ? 1 : 0;
    ibv_recv_wr* bad = nullptr;
    if (const int problem = ibv_post_recv(peer_.receiver(), &receive_, &bad); problem != 0) [[unlikely]]
      adapter_.fail_posting(peer_, problem);
    ++num_posted_;
  }

  void make_room() {
    if (!adapter_.has_room(peer_)) [[unlikely]]
      await_room();
  }
  [[gnu::cold]] void await_room();

  Adapter& adapter_;
  Peer& peer_;
  AddressSequence places_, written_;
  std::uint64_t num_in_, num_out_, num_posted_ = 0;
  std::uint32_t num_ahead_, num_silent_ = 0, most_silent_;
  bool is_copied_, is_writing_ = false, is_written_;
  ibv_sge entry_{}, into_{};
  ibv_send_wr message_{}, empty_{};
  ibv_recv_wr receive_{};
};

}  // namespace leadline::transport::verbs
