// SPDX-License-Identifier: Apache-2.0
// The one implementation of Cluster: a binary tree of connections, collectives on the measuring thread, the watch
// beside it.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "cluster/connection.hpp"
#include "cluster/edge.hpp"
#include "cluster/gathered_membership.hpp"
#include "cluster/process_identity.hpp"
#include "cluster/watch.hpp"

namespace leadline::cluster {

/// The rank above; only for rank > 0.
constexpr int parent_of(int rank) { return (rank - 1) / 2; }

/// The at most two ranks below.
inline std::vector<int> children_of(int rank, int size) {
  std::vector<int> children;
  for (long long child = 2LL * rank + 1; child <= 2LL * rank + 2 && child < size; ++child) {
    children.push_back(static_cast<int>(child));
  }
  return children;
}

class TcpCluster final : public Cluster {
 public:
  TcpCluster(std::unique_ptr<Bootstrap> bootstrap, JoinOptions options);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const std::string& host() const override { return host_; }
  std::span<const std::uint32_t> host_of() const override { return hosts_.host_of; }
  int num_hosts() const override { return static_cast<int>(hosts_.names.size()); }
  const std::string& host_name(int rank) const override { return hosts_.name_of(rank); }
  std::string launcher() const override { return bootstrap_->launcher(); }
  bool on_loopback() const override { return on_loopback_; }
  std::string own_address() const override { return own_address_; }
  void set_wait(WaitMode mode, std::function<void()> progress) override { waiter_.set(mode, std::move(progress)); }

  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string left, std::string_view right)>& combine) override;
  void gather(std::string_view own, const std::function<void(int rank, std::string_view text)>& at_root) override;
  std::string broadcast(std::string_view from_root) override;
  void barrier() override;
  void agree(const Error* own) override;

  void go_on_without_lost_ranks() override;
  void go_on_without_root() override;
  int root() const override { return root_; }
  std::span<const LostRank> lost_ranks() const override { return lost_ranks_; }

  ProgressCounter& progress_counter() override { return watch_->stall_detector().progress_counter; }
  void set_current_step(std::function<std::string(int rank)> current_step) override;
  void tell_current_step() override { watch_->tell_current_step(); }
  void set_partial_result(std::function<std::string()> partial_result) override;
  void set_on_failure(std::function<void(const std::string&, const PartialResults&)> on_failure) override;
  [[noreturn]] void abort(const Error& error) override;
  void leave() override;

  using Rendezvous::meet;
  Descriptor meet(int partner, Deadline deadline, const ProgressFunction& progress) override;
  SocketsByRank* data_sockets() override { return &data_sockets_; }

 private:
  void grow_tree(Deadline deadline);
  void join_parent(Deadline deadline);
  void join_root();
  void join_root_or_end();
  void tell_new_parent();
  bool lacks_ranks() const;
  void await_child(int child, Deadline deadline);
  struct Member {
    HostIdentity identity;
    std::string host;
  };
  void learn_hosts();
  void place_absent(std::vector<Member>& members) const;
  SocketAddress address_of(int rank) const;

  /// What one collective is made of.
  struct Sweep {
    Operation operation = Operation::barrier;
    std::string own = {};                                                    ///< goes up, with what `take` has added
    std::string_view own_item = {};                                          ///< goes up by itself
    std::function<void(std::string& own, std::string_view text)> take = {};  ///< from below; empty = nothing comes
    std::function<void(std::string_view item)> take_item = {};               ///< this rank's, too; likewise
    std::function<std::string()> decide = {};  ///< the root: what goes down, if it is not `own`
    std::vector<int> from = {};                ///< those below that have brought theirs
  };
  /// Texts go up the tree, one text comes down to all: who has it knows that all have called. So no rank is more than
  /// one collective ahead of another, and a rank that lost its parent in between finds what it missed at the root. A
  /// new root may be the one that missed it: others bring it along when they come.
  std::string collective(Sweep sweep);
  std::vector<std::uint32_t> from_below(Sweep& sweep);
  bool take_from(Edge& child, Sweep& sweep, std::vector<std::uint32_t>& missing);
  std::string decide(Sweep& sweep, std::vector<std::uint32_t> missing);
  std::optional<std::string> await_orphans(Sweep& sweep, std::vector<std::uint32_t> missing);
  bool is_lost(int rank) const;
  std::string ask_parent(Sweep& sweep, const std::vector<std::uint32_t>& missing);
  void tell_below(const Sweep& sweep, const std::string& result);
  void send_item(std::string_view item);
  std::string take_result(const std::string& packed);

  Descriptor accept_peer(int partner, Deadline deadline, const ProgressFunction& progress);
  Edge* edge_to(int child);
  void drop(const Edge& child);

  std::unique_ptr<Bootstrap> bootstrap_;
  JoinOptions options_;
  int rank_, size_;
  std::string host_;
  std::optional<GatheredMembership> gathered_;
  Membership* membership_ = nullptr;
  std::optional<RunKey> key_;
  bool on_loopback_ = true;
  std::string own_address_;
  HostBook hosts_;

  ConnectionQueue connection_queue_;
  SocketsByRank collective_sockets_, data_sockets_;
  Waiter waiter_;
  std::optional<Watch> watch_;
  std::optional<Edge> parent_;
  std::list<Edge> children_;  ///< at the top of the tree also those that have lost their parent
  std::uint32_t sequence_ = 0;

  bool goes_on_ = false;  ///< without lost ranks
  bool goes_on_without_root_ = false;
  bool is_leaving_ = false;  ///< in the last collective of a run that goes on without lost ranks
  bool is_top_;              ///< of the tree: the root, or who becomes it
  int root_ = 0;
  std::vector<LostRank> lost_ranks_;
  int num_new_parents_ = 0;
};

}  // namespace leadline::cluster
