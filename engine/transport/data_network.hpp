// SPDX-License-Identifier: Apache-2.0
// Data sockets on the network that the user chose for them, apart from that of the control plane.
#pragma once

#include <string>

#include "cluster/address.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"

namespace leadline::transport {

/// One rank's place on it: an address, and a socket that listens there.
class DataNetwork {
 public:
  /// Local: `interface` as in Context. Throws Error(something_missing) where no address of this host is meant.
  explicit DataNetwork(const std::string& interface);

  const std::string& device() const { return own_.device; }

  /// Partners: a connection between both their places, blocking, TCP_NODELAY. They tell each other over `meeting` where
  /// those are. Throws Error(run_failed) when the deadline passes or one network does not lead to the other.
  Descriptor connect(int own_rank, int partner, const Descriptor& meeting, Deadline deadline);

 private:
  Descriptor dial(int partner, const std::string& card, Deadline deadline) const;
  Descriptor accept(int partner, const std::string& password, Deadline deadline) const;

  cluster::LocalAddress own_;
  Descriptor listener_;
};

}  // namespace leadline::transport
