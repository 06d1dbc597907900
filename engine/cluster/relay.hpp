// SPDX-License-Identifier: Apache-2.0
// Bytes that this rank passes on between a rank and the root, where the two do not reach each other.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "cluster/address.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {

/// What passes is protected by the handshake between the two ends. Nothing here blocks.
class Relay {
 public:
  /// Begins to connect to `address`; is over where that fails.
  Relay(Descriptor caller, const SocketAddress& address);

  /// What to poll for.
  void add_to(std::vector<pollfd>& polled) const;
  /// Passes on what has come.
  void serve();
  /// One of the two ends is gone, and the other has all that it sent.
  bool is_over() const { return is_over_; }

 private:
  struct Side {
    Descriptor socket;
    std::string waiting;  ///< to be sent to it
    bool has_ended = false;
  };
  void read(Side& from, Side& to);
  void write(Side& to);

  Side caller_, called_;
  bool is_connected_ = false, is_over_ = false;
};

}  // namespace leadline::cluster
