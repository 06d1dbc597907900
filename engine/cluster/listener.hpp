// SPDX-License-Identifier: Apache-2.0
// Listening for connections, and the socket options that all connections of the control plane have.
#pragma once

#include "cluster/address.hpp"
#include "cluster/socket.hpp"

namespace leadline::cluster {

/// Local: a listening socket (non-blocking). Port 0 takes any free one.
/// Throws Error(run_failed) "cannot listen on 127.0.0.1:60000 (Address already in use)".
Socket listen_on(const SocketAddress& address);

enum class Blocking { yes, no };
void set_blocking(int fd, Blocking blocking);

/// Small messages leave at once.
void set_no_delay(int fd);

}  // namespace leadline::cluster
