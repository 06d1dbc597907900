// SPDX-License-Identifier: Apache-2.0
// How some of the ranks of a run join a cluster of their own, after all of them have joined one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/address.hpp"
#include "cluster/bootstrap.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {

/// What a bootstrap is, too, whose library wants to know that only a part of its ranks goes on, such as MPI, whose
/// processes end together.
class KnowsParts {
 public:
  virtual ~KnowsParts() = default;

  /// Collective over these ranks, also called by all others: only these go on, with new numbers in this order. The
  /// others have nothing left to do.
  virtual void go_on_with(std::span<const int> ranks) = 0;
};

/// Another bootstrap, from which a part of the ranks can be taken.
class DivisibleBootstrap final : public Bootstrap, private Membership {
 public:
  /// Collective where `of_run` has no membership. Throws what that, or GatheredMembership, throws.
  DivisibleBootstrap(std::unique_ptr<Bootstrap> of_run, const NetworkChoice& network);

  /// Collective, once, when all have joined: for these ranks alone, whose positions are their new numbers; null on all
  /// others. Nothing is sent. They listen where they did: what is still in the cluster of all refuses callers with the
  /// new secret, and these call again. Throws Error(run_failed) where no descriptor is left.
  std::unique_ptr<Bootstrap> part(std::span<const int> ranks);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  std::string launcher() const override { return of_run_->launcher(); }
  Membership* membership() override { return this; }
  void joined() override { of_run_->joined(); }
  bool starts_ranks_one_by_one() const override { return of_run_->starts_ranks_one_by_one(); }
  const AbsentHost* absent_host(int rank) const override {
    return of_run_->absent_host(ranks_.at(static_cast<std::size_t>(rank)));
  }
  void going_on_without_lost_ranks() override { of_run_->going_on_without_lost_ranks(); }
  bool reporting() override { return of_run_->reporting(); }
  void ends_but_for_the_kernel() override { of_run_->ends_but_for_the_kernel(); }
  void end_all() override { of_run_->end_all(); }

 private:
  DivisibleBootstrap(const DivisibleBootstrap& all, std::span<const int> ranks, Descriptor listener);

  Descriptor take_listener() override;
  Endpoint endpoint_of(int rank) const override {
    return of_all_->endpoint_of(ranks_.at(static_cast<std::size_t>(rank)));
  }
  std::string_view secret() const override { return secret_; }

  std::shared_ptr<Bootstrap> of_run_;
  std::shared_ptr<Membership> of_all_;
  std::vector<int> ranks_;  ///< the number that the launcher gave to each
  int rank_ = 0;
  Descriptor listener_;
  std::string secret_;
};

}  // namespace leadline::cluster
