// SPDX-License-Identifier: Apache-2.0
// Matched queues of PSM2, the library of Omni-Path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "model/provenance.hpp"
#include "transport/psm2/library.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::psm2 {

/// See transport/tagged/port.hpp. PSM2 has one endpoint a process.
class Psm2Port {
 public:
  /// They cost no files, and an end waits for the other to be closed.
  static constexpr bool keeps_endpoints = true;
  static constexpr bool survives_lost_partners = false;

  using Peer = psm2_epaddr_t;

  /// It registers memory when it needs to.
  struct Memory {};

  struct Request {
    psm2_mq_req_t pending = PSM2_MQ_REQINVALID;
  };

  /// Throws Error(something_missing) in the library's words.
  Psm2Port();
  Psm2Port(const Psm2Port&) = delete;
  Psm2Port& operator=(const Psm2Port&) = delete;
  ~Psm2Port();

  Memory memory(const std::byte*, std::size_t) const { return {}; }

  [[gnu::always_inline]] void post_send(Peer peer, tagged::Tag tag, const Memory&, const std::byte* data,
                                        std::size_t size, Request& request) {
    psm2_mq_tag_t bits = to_tag(tag);
    check("sending", functions->mq_isend2(queue_, peer, 0, &bits, data, static_cast<std::uint32_t>(size), nullptr,
                                          &request.pending));
  }

  [[gnu::always_inline]] void post_receive(Peer peer, tagged::Tag tag, const Memory&, std::byte* data, std::size_t size,
                                           Request& request) {
    psm2_mq_tag_t bits = to_tag(tag);
    check("receiving", functions->mq_irecv2(queue_, peer, &bits, &every_bit_, 0, data, static_cast<std::uint32_t>(size),
                                            nullptr, &request.pending));
  }

  [[gnu::always_inline]] bool is_done(Request& request) {
    if (request.pending == PSM2_MQ_REQINVALID) return true;
    psm2_mq_status2_t status;
    const psm2_error_t code = functions->mq_test2(&request.pending, &status);
    if (code == PSM2_MQ_NO_COMPLETIONS) return false;
    check("a message", code);
    check("a message", status.error_code);
    return true;
  }

  [[gnu::always_inline]] bool progress() {
    const psm2_error_t code = functions->poll(endpoint_);
    if (code == PSM2_OK_NO_PROGRESS) return false;
    check("polling", code);
    return true;
  }

  /// A long send is done when its receiver has it, a short one when it has left.
  bool flush(Deadline) { return true; }

  /// Lengths have 32 bits.
  static std::uint64_t max_message_bytes() { return UINT32_MAX; }

  std::string address() const;
  /// Both partners at once.
  Peer open(std::string_view address);
  void close(Peer) noexcept {}

  TransportInfo info() const;
  std::vector<Fact> facts() const;

 private:
  /// Written as the library reads it, eight bytes at once: the processor would wait for pieces.
  static psm2_mq_tag_t to_tag(tagged::Tag tag) {
    const std::uint64_t both = tagged::bits(tag);
    psm2_mq_tag_t bits;
    std::memcpy(&bits, &both, sizeof both);
    bits.tag2 = 0;
    return bits;
  }

  static void check(const char* doing, psm2_error_t code) {
    if (code != PSM2_OK) [[unlikely]]
      fail(doing, code);
  }
  [[noreturn]] static void fail(const char* doing, psm2_error_t code);

  psm2_ep_t endpoint_ = nullptr;
  psm2_epid_t id_ = 0;
  psm2_mq_t queue_ = nullptr;
  psm2_mq_tag_t every_bit_ = {{~0u, ~0u, ~0u}};
};

}  // namespace leadline::transport::psm2
