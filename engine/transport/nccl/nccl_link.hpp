// SPDX-License-Identifier: Apache-2.0
// A link over NCCL: what is posted becomes one group.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "model/request.hpp"
#include "transport/nccl/library.hpp"

namespace leadline::transport::nccl {

/// See kernel/link.hpp. Owns nothing, and so is cheap to make.
template <WaitMode wait>
class NcclLink {
 public:
  NcclLink(Operations& operations, int partner) : operations_(operations), partner_(partner) {}

  void send(const std::byte* data, std::size_t size) {
    operations_.add_send(partner_, data, size);
    operations_.complete<wait>();
  }

  void receive(std::byte* data, std::size_t size) {
    operations_.add_receive(partner_, data, size);
    operations_.complete<wait>();
  }

  void post_send(const std::byte* data, std::size_t size) { operations_.add_send(partner_, data, size); }
  void post_receive(std::byte* data, std::size_t size) { operations_.add_receive(partner_, data, size); }
  void complete_posted() { operations_.complete<wait>(); }

  void send_receipt() { send(nullptr, 0); }
  void await_receipt() { receive(nullptr, 0); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  Operations& operations_;
  int partner_;
};

}  // namespace leadline::transport::nccl
