// SPDX-License-Identifier: Apache-2.0
// Messages one by one over stream sockets; for the modules that move their bytes by TCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/link_sockets.hpp"
#include "transport/messages.hpp"
#include "transport/socket_traffic.hpp"

namespace leadline::transport {

/// A message that is still on its way at the end stays halfway in its link, which is good for nothing afterwards.
class SocketMessages final : public Messages {
 public:
  /// Throws Error(something_missing) where not all links can be open at once.
  SocketMessages(std::span<const std::int32_t> partners, std::size_t max_tickets, const LinkSockets& sockets,
                 WaitMode wait);

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override;
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override;
  std::optional<Ticket> poll() override;
  Ticket await_any() override;

 private:
  std::size_t peer_of(int partner) const;

  std::vector<std::int32_t> ranks_;  ///< by peer, ascending
  SocketTraffic traffic_;
};

}  // namespace leadline::transport
