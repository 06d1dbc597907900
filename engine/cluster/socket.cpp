// SPDX-License-Identifier: Apache-2.0
// Closing a socket.
#include "cluster/socket.hpp"

#include <unistd.h>

namespace leadline::cluster {

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace leadline::cluster
