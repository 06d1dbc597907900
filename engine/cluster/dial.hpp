// SPDX-License-Identifier: Apache-2.0
// Calling another rank: connects, proves who we are, and repeats until it is there.
#pragma once

#include <optional>
#include <string>

#include "cluster/address.hpp"
#include "cluster/handshake.hpp"
#include "cluster/socket.hpp"
#include "core/deadline.hpp"

namespace leadline::cluster {

/// Local, blocks: a connection that rank `hello.to` at `address` has answered; non-blocking, TCP_NODELAY.
/// Throws ConnectionLost with the last reason when the deadline passes.
Socket dial(const SocketAddress& address, const Hello& hello, const RunKey& key, Deadline deadline);

/// Local, blocks: one attempt, from any port of `from` (empty = the system chooses). Nothing where the connection is
/// refused or does not come about in time; `why` says how.
Socket connect_to(const SocketAddress& address, const std::optional<SocketAddress>& from, Deadline deadline,
                  std::string& why);

}  // namespace leadline::cluster
