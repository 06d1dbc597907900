// SPDX-License-Identifier: Apache-2.0
// The control plane: who takes part, barriers, reductions, agreement on errors, and the watch over every rank.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cluster/bootstrap.hpp"
#include "cluster/rendezvous.hpp"
#include "core/error.hpp"
#include "core/progress_counter.hpp"
#include "model/request.hpp"

namespace leadline::cluster {

struct JoinOptions {
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);  ///< how long a rank may be silent
  std::chrono::nanoseconds start_timeout{};                     ///< how long it may take to come; 0 = timeout
  bool leaves_out_absent = false;  ///< the run goes on without ranks that do not come, if these were started one by one
  std::string interface;           ///< device or address prefix between hosts; empty = any
  std::string host_name_suffix;    ///< of LINKTEST_SYSTEM_NODENAME_SUFFIX; see NetworkChoice
};

/// A rank that is gone while the others go on.
struct LostRank {
  int rank = -1;
  std::string why;         ///< "rank 3 on node3 died in round 4 of 7, with partner 1 (its connection closed)"
  bool was_there = true;   ///< false: it was lost before the run began
  bool has_ended = false;  ///< its host says so, or it is stopped on this one: it does not go on elsewhere
};

inline bool is_lost(std::span<const LostRank> lost, int rank) {
  return std::ranges::find(lost, rank, &LostRank::rank) != lost.end();
}

/// What ranks have of that which is being measured, by rank; those that could not say it any more are missing.
using PartialResults = std::map<int, std::string>;

/// A tree of TCP connections over all ranks (at most two children each), one set for collectives, one for the
/// watch. Collectives are called by the measuring thread of every rank in the same order. A collective that loses
/// a rank never returns: the watch ends the process (see `on_failure`), or, after go_on_without_lost_ranks(), the
/// others go on. Any wait ends within the timeout.
class Cluster : public Rendezvous {
 public:
  /// Collective. Throws Error(run_failed) where the others do not come in time, or the port is taken.
  static std::unique_ptr<Cluster> join(std::unique_ptr<Bootstrap> bootstrap, const JoinOptions& options);
  ~Cluster() override = default;

  // Local: who takes part.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const std::string& host() const = 0;                 ///< own host's name
  virtual std::span<const std::uint32_t> host_of() const = 0;  ///< host index by rank, in order of first appearance
  virtual int num_hosts() const = 0;
  virtual const std::string& host_name(int rank) const = 0;  ///< of any rank
  virtual std::string launcher() const = 0;
  virtual bool on_loopback() const = 0;                   ///< no port is open to other hosts
  virtual std::string own_address() const { return {}; }  ///< where this rank listens; empty = nowhere

  /// Local, once everything that decides it is known: how collectives wait, and what to call meanwhile
  /// (empty = nothing, so that a rank may sleep).
  virtual void set_wait(WaitMode mode, std::function<void()> progress) = 0;

  /// Collective: the sum of all ranks' texts under `combine` (associative; called in no fixed order), on all ranks.
  virtual std::string all_reduce(
      std::string own, const std::function<std::string(std::string left, std::string_view right)>& combine) = 0;

  /// Collective: `at_root` is called on the root for every rank's text (any order, the root's own included); nothing
  /// is kept, so the root needs no memory for all of them.
  virtual void gather(std::string_view own, const std::function<void(int rank, std::string_view text)>& at_root) = 0;

  /// Collective: the root's text, on all ranks. Where the root is lost in it, that of the next one.
  virtual std::string broadcast(std::string_view from_root) = 0;

  /// Collective: returns when all have come.
  virtual void barrier() = 0;

  /// Collective: if any rank brings an error, every rank throws it (the lowest such rank's).
  virtual void agree(const Error* own) = 0;

  /// Local, on all ranks between the same two collectives: from now on a rank that dies, or is silent for longer than
  /// the timeout, is left out: collectives give what the others bring. Where it is rank 0, or rank 0 hears nobody, the
  /// run ends as before.
  virtual void go_on_without_lost_ranks() = 0;

  /// Local, likewise, after that: the root may be lost, too. The lowest rank that lives becomes the root where more
  /// ranks are with it than may be with another one: only ranks that have ended for certain do not count. From then on
  /// a root with whom fewer are ends the run.
  virtual void go_on_without_root() {}

  /// Local: the rank that decides and writes for all: 0, or its successor. The same on all ranks after the same
  /// collective, so what only the root did before a collective in which it changes is to be done again.
  virtual int root() const { return 0; }
  bool is_root() const { return rank() == root(); }

  /// Local: those that are left out, in the order in which they were lost; the same on all ranks after the same
  /// collective.
  virtual std::span<const LostRank> lost_ranks() const = 0;

  // Local: the watch.
  virtual ProgressCounter& progress_counter() = 0;

  /// `current_step(rank)` says what that rank was about to do ("round 3 of 7, with partner 5"), or nothing where only
  /// that rank knows: then counts what it said of itself with its last heartbeat. Called from the watch thread at any
  /// time, so it may only read what does not change or is atomic.
  virtual void set_current_step(std::function<std::string(int rank)> current_step) = 0;
  /// What this rank says of itself is told at once, not with the next heartbeat.
  virtual void tell_current_step() = 0;

  /// `partial_result()` says, in at most a few KiB, what this rank has of that which is being measured. Called once,
  /// from the watch thread, when the run fails, so it may only read what does not change or is atomic.
  virtual void set_partial_result(std::function<std::string()> partial_result) = 0;

  /// `on_failure(message, partial_results)` runs once, in the watch thread of the one rank that reports, directly
  /// before that message goes to stderr and the process ends with status 4: the place to mark the result file.
  virtual void set_on_failure(
      std::function<void(const std::string& message, const PartialResults& partial_results)> on_failure) = 0;

  /// Local: ends the run on all ranks with this error, from the middle of anything. The best-founded reason
  /// that reaches rank 0 is reported, once.
  [[noreturn]] virtual void abort(const Error& error) = 0;

  /// Collective: the orderly end; afterwards only destruction. A rank that vanishes now is no failure, nor, where the
  /// run goes on without lost ranks, one that others do not reach any more.
  virtual void leave() = 0;
};

/// Collective: `step(root)` has a collective at its end; where the root is lost in it, all of it is done again.
template <typename Step>
void repeat_for_new_root(Cluster& cluster, const Step& step) {
  for (int root = -1; root != cluster.root();) {
    root = cluster.root();
    step(root);
  }
}

}  // namespace leadline::cluster
