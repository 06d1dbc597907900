// SPDX-License-Identifier: Apache-2.0
// Tagged messages of libfabric over reliable datagram endpoints.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_tagged.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "model/provenance.hpp"
#include "transport/libfabric/offers.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::libfabric {

/// Closes an object of libfabric, whatever it is.
struct Closer {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using Owned = std::unique_ptr<Object, Closer>;

/// See transport/tagged/port.hpp.
class LibfabricPort {
 public:
  static constexpr bool keeps_endpoints = false;
  static constexpr bool survives_lost_partners = true;
  static constexpr bool bounds_posts = true;
  static constexpr std::size_t descriptors_per_endpoint = 2;  ///< over sockets, where both may dial each other at once

  using Peer = fi_addr_t;

  /// A registration, where the provider wants one for local memory (FI_MR_LOCAL).
  struct Memory {
    Owned<fid_mr> region;
    void* descriptor() const { return region ? fi_mr_desc(region.get()) : nullptr; }
  };

  /// The library owns `context` until the completion, which points to it; so it is the first member.
  struct Request {
    fi_context2 context{};
    bool is_under_way = false;
    int error_number = 0;  ///< of one that has failed
  };

  /// As best_offer(). Throws Error(something_missing) in the library's words.
  explicit LibfabricPort(const ProviderChoice& choice);

  Memory memory(const std::byte* data, std::size_t size);

  /// Small messages the library takes along at once (fi_tinject): no completion, the buffer is free again.
  [[gnu::always_inline]] void post_send(Peer peer, tagged::Tag tag, const Memory& memory, const std::byte* data,
                                        std::size_t size, Request& request) {
    request.is_under_way = size > max_injected_bytes_;
    if (!request.is_under_way) {
      insist("sending", [&] { return fi_tinject(endpoint_.get(), data, size, peer, tagged::bits(tag)); });
      return;
    }
    insist("sending", [&] { return send(peer, tag, memory, data, size, request); });
  }

  bool try_post_send(Peer peer, tagged::Tag tag, const Memory& memory, const std::byte* data, std::size_t size,
                     Request& request) {
    const bool is_injected = size <= max_injected_bytes_;
    const bool is_taken =
        was_taken("sending", is_injected ? fi_tinject(endpoint_.get(), data, size, peer, tagged::bits(tag))
                                         : send(peer, tag, memory, data, size, request));
    request.is_under_way = is_taken && !is_injected;
    return is_taken;
  }

  [[gnu::always_inline]] void post_receive(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* data,
                                           std::size_t size, Request& request) {
    request.is_under_way = true;
    insist("receiving", [&] { return receive(peer, tag, memory, data, size, request); });
  }

  bool try_post_receive(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* data, std::size_t size,
                        Request& request) {
    request.is_under_way = was_taken("receiving", receive(peer, tag, memory, data, size, request));
    return request.is_under_way;
  }

  [[gnu::always_inline]] bool is_done(const Request& request) const {
    if (request.is_under_way) return false;
    if (request.error_number != 0) [[unlikely]]
      fail("a message", -request.error_number);
    return true;
  }

  /// Takes completions and marks them at their requests; whether there was one.
  [[gnu::always_inline]] bool progress() {
    fi_cq_tagged_entry entries[16];
    const ssize_t num = fi_cq_read(completions_.get(), entries, 16);
    if (num == -FI_EAGAIN) return false;
    if (num < 0) [[unlikely]]
      return take_error(num);
    for (ssize_t i = 0; i < num; ++i) static_cast<Request*>(entries[i].op_context)->is_under_way = false;
    return num > 0;
  }

  /// A send is done when it has left; for what the library took along, see tagged::Peers: the partner says when it has
  /// come, and this rank drives until then.
  bool flush(Deadline) { return true; }

  std::uint64_t max_message_bytes() const { return info_->ep_attr->max_msg_size; }

  std::string address() const;
  /// Throws Error(something_missing) where the partner has another provider, or addresses of another kind.
  Peer open(std::string_view address);
  void close(Peer peer) noexcept;

  tagged::LossCheck loss_check;
  /// Not over shared memory: whoever dies with one of its locks keeps all others from going on.
  bool tolerate_losses() const;
  void abandon(Request& request) noexcept;
  void close_lost(Peer peer) noexcept { close(peer); }

  TransportInfo info() const;

 private:
  [[gnu::always_inline]] ssize_t send(Peer peer, tagged::Tag tag, const Memory& memory, const std::byte* data,
                                      std::size_t size, Request& request) {
    return fi_tsend(endpoint_.get(), data, size, memory.descriptor(), peer, tagged::bits(tag), &request.context);
  }
  [[gnu::always_inline]] ssize_t receive(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* data,
                                         std::size_t size, Request& request) {
    return fi_trecv(endpoint_.get(), data, size, memory.descriptor(), peer, tagged::bits(tag), 0, &request.context);
  }

  static bool was_taken(const char* doing, ssize_t result) {
    if (result != 0 && result != -FI_EAGAIN) fail(doing, result);
    return result == 0;
  }

  /// Until there is room in the queue.
  template <class Call>
  [[gnu::always_inline]] void insist(const char* doing, const Call& call) {
    if (const ssize_t result = call(); result != 0) [[unlikely]]
      try_again(doing, call, result);
  }
  template <class Call>
  [[gnu::noinline]] void try_again(const char* doing, const Call& call, ssize_t result) {
    for (unsigned num_in_vain = 0; result != 0; result = call()) {
      if (result != -FI_EAGAIN) fail(doing, result);
      if (!progress() && ++num_in_vain % tagged::tries_per_loss_check == 0) tagged::check_for_losses(*this);
    }
  }

  [[noreturn]] static void fail(const char* doing, ssize_t code);
  /// Marks the message that has failed; whether it was one that is known.
  [[gnu::cold]] bool take_error(ssize_t code);

  Info info_;
  std::size_t max_injected_bytes_;  ///< that the library takes along
  std::uint64_t next_key_ = 1;      ///< of memory, where the provider leaves it to us
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> completions_;  ///< one for both ways: half the polling
  Owned<fid_ep> endpoint_;     ///< the first to be closed
};

}  // namespace leadline::transport::libfabric
