// SPDX-License-Identifier: Apache-2.0
// Listening for other ranks and connecting to them, and the socket options of the control plane.
#pragma once

#include <optional>
#include <string>

#include "cluster/address.hpp"
#include "cluster/handshake.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {

/// Local: a listening socket (non-blocking). Port 0 takes any free one.
/// Throws Error(run_failed) "cannot listen on 127.0.0.1:60000 (Address already in use)".
Descriptor listen_on(const SocketAddress& address);

enum class Blocking { yes, no };
void set_blocking(int fd, Blocking blocking);

/// Small messages leave at once.
void set_no_delay(int fd);

/// Local, blocks: a connection that rank `hello.to` at `address` has answered; non-blocking, TCP_NODELAY.
/// Throws ConnectionLost with the last reason when the deadline passes.
Descriptor dial(const SocketAddress& address, const Hello& hello, const RunKey& key, Deadline deadline);

/// Local, blocks: one attempt, from any port of `from` (empty = the system chooses). Nothing where the connection is
/// refused or does not come about in time; `why` says how.
Descriptor connect_to(const SocketAddress& address, const std::optional<SocketAddress>& from, Deadline deadline,
                      std::string& why);

}  // namespace leadline::cluster
