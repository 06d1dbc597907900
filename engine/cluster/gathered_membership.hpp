// SPDX-License-Identifier: Apache-2.0
// Who listens where when the bootstrap can only gather texts: every rank listens, and all exchange their endpoints.
#pragma once

#include <string>

#include "cluster/address.hpp"
#include "cluster/bootstrap.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {

/// Keeps 6 bytes a rank, 18 where any rank listens on IPv6.
class GatheredMembership final : public Membership {
 public:
  /// Collective: listens on the loopback where all ranks are on one host, else see address_between_hosts;
  /// the secret is made of random shares of all. If any rank cannot listen, all throw the lowest such rank's Error.
  GatheredMembership(Bootstrap& bootstrap, const NetworkChoice& network);

  Descriptor take_listener() override { return std::move(listener_); }
  Endpoint endpoint_of(int rank) const override;
  std::string_view secret() const override { return secret_; }

 private:
  void exchange_endpoints(Bootstrap& bootstrap, const SocketAddress& own);

  Descriptor listener_;
  std::string secret_;
  std::string book_;  ///< address and port of every rank, in network order
  std::size_t address_size_bytes_ = 4;
};

}  // namespace leadline::cluster
