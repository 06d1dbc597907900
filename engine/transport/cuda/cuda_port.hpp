// SPDX-License-Identifier: Apache-2.0
// Messages between GPUs of one host: ranks exchange handles of their memory, and the copy engines move the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "model/provenance.hpp"
#include "transport/cuda/cuda_channel.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::cuda {

/// See transport/tagged/port.hpp. Thread-bound, as the driver's current context is.
class CudaPort {
 public:
  using Peer = CudaChannel*;
  using Memory = GpuMemory;
  using Request = cuda::Request;

  /// Throws Error(something_missing) where there is no driver or no device, or the ranks stand on several hosts.
  explicit CudaPort(const Context& context);

  Memory memory(const std::byte* data, std::size_t size) const;

  void post_send(Peer peer, tagged::Tag tag, const Memory&, const std::byte* from, std::size_t size, Request& request) {
    peer->post_send(index_of(tag.kind), from, copied(tag.kind, size), request);
    list(*peer);
  }

  void post_receive(Peer peer, tagged::Tag tag, const Memory& memory, std::byte* to, std::size_t size,
                    Request& request) {
    peer->post_receive(index_of(tag.kind), memory, to, copied(tag.kind, size), request);
    list(*peer);
  }

  bool is_done(const Request& request) const {
    return request.num_done->load(std::memory_order_acquire) > request.number;
  }

  bool progress();
  bool flush(Deadline deadline);

  static std::uint64_t max_message_bytes() { return UINT64_MAX; }
  static constexpr bool keeps_endpoints = false;
  static constexpr bool survives_lost_partners = false;
  static constexpr std::size_t descriptors_per_endpoint = 0;

  std::string address() const;
  Peer open(std::string_view address);
  void close(Peer peer) noexcept;

  TransportInfo info() const;

 private:
  static constexpr std::size_t index_of(tagged::Kind kind) { return static_cast<std::size_t>(kind); }

  /// The byte of a token has no meaning; it is in ordinary memory.
  static constexpr std::size_t copied(tagged::Kind kind, std::size_t size) {
    return kind == tagged::Kind::token ? 0 : size;
  }

  void list(CudaChannel& channel) {
    if (channel.is_listed || channel.is_idle()) return;
    channel.is_listed = true;
    listed_.push_back(&channel);
  }

  const memory::cuda::Driver& driver_;
  int own_rank_;
  memory::cuda::DeviceFacts device_;
  Descriptor mailboxes_;  ///< owns the descriptor
  std::vector<std::unique_ptr<CudaChannel>> channels_;
  std::vector<CudaChannel*> listed_;  ///< those that have something to drive on
};

}  // namespace leadline::transport::cuda
