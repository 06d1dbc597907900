// SPDX-License-Identifier: Apache-2.0
// Direct connections between two ranks of a run: how a transport gets its data sockets or passes its addresses.
#pragma once

#include "cluster/sockets_by_rank.hpp"
#include "core/deadline.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"

namespace leadline::cluster {

/// A connection to another rank that broke or never came about. Most often the consequence of something else
/// (that rank died), so Cluster::abort prefers any other reason to it.
class ConnectionLost : public Error {
 public:
  /// `partner`: the rank at the other end.
  explicit ConnectionLost(int partner, std::string problem, std::string why = {}, std::string hint = {})
      : Error(ExitStatus::run_failed, std::move(problem), std::move(why), std::move(hint)), partner_(partner) {}

  /// A socket to the partner ended in use. `error_number`: 0 where the partner closed it.
  static ConnectionLost of_socket(int partner, int error_number);

  int partner() const { return partner_; }

  /// Whether the partner ended it, by all that is known here: then the partner knows the cause.
  bool partner_ended_it() const { return partner_ended_it_; }

 private:
  int partner_;
  bool partner_ended_it_ = false;
};

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Partners: both ends call it with the other's rank; each gets its end of one fresh, authenticated TCP
  /// connection (blocking, TCP_NODELAY), which it then owns. The lower rank dials, the higher accepts; several
  /// meetings of the same pair are matched in order, as long as no rank is more than ten ahead. A library that others
  /// need is driven on by `progress` until the partner comes. Throws ConnectionLost when the deadline passes. Where the
  /// run goes on without lost ranks: at once when the partner is one of them; and the higher rank waits longer for one
  /// that answers, but not for good.
  virtual Descriptor meet(int partner, Deadline deadline, const ProgressFunction& progress) = 0;
  Descriptor meet(int partner, Deadline deadline) { return meet(partner, deadline, {}); }

  /// Local: where sockets to partners are entered, so that waits on them end when the partner is lost while the run
  /// goes on; null where that is not to be had.
  virtual SocketsByRank* data_sockets() { return nullptr; }
};

}  // namespace leadline::cluster
