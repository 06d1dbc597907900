// SPDX-License-Identifier: Apache-2.0
// How processes that were started together learn who they are and where the others listen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/socket.hpp"

namespace leadline::cluster {

/// Where one rank listens: an IPv4 or IPv6 address in text and a port.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

/// What a bootstrap may know without asking anybody: where everybody listens, and the secret of the run.
class Membership {
 public:
  virtual ~Membership() = default;

  /// Local, once: the socket on which this rank listens at its endpoint.
  virtual Socket take_listener() = 0;

  /// Local. Throws Error(bad_command_line) where the user has to say it and did not.
  virtual Endpoint endpoint_of(int rank) const = 0;

  /// What all ranks of the run share and nobody else knows.
  virtual std::string_view secret() const = 0;
};

/// Who we are, from whatever started us. Implemented by the local launcher, by the explicit environment
/// variables (both in cluster/) and by transports whose library has a launcher of its own (MPI).
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// For people: "local", "environment", "Open MPI mpirun" ...
  virtual std::string launcher() const = 0;

  /// Local: what is known without asking, owned by the bootstrap; null where only all_gather can tell.
  virtual Membership* membership() { return nullptr; }

  /// Collective, only before the cluster stands, and only where there is no membership: every rank's text, one
  /// behind the other, by rank. All the same length.
  virtual std::string all_gather(const std::string& own);

  /// Local: the cluster stands, and all_gather will not be called again.
  virtual void joined() {}

  /// Local, from the watch thread: this process is about to say on stderr why the run failed.
  virtual void reporting() {}
};

}  // namespace leadline::cluster
