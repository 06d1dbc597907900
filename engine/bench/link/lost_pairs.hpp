// SPDX-License-Identifier: Apache-2.0
// Pairs of ranks between which nothing can be measured, and ranks that are gone: all others leave them out and go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/link_request.hpp"
#include "model/result.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::link {

/// A pair whose link did not open, or broke.
struct LostPair {
  std::int32_t low = -1, high = -1;  ///< ranks
  std::string why;                   ///< as one of them saw it
};

/// The same on all ranks.
struct Losses {
  std::vector<LostPair> pairs;                ///< each once, in the order in which they were lost
  std::vector<std::int32_t> cut_off_ranks;    ///< whose pairs with other hosts are not tried, either
  std::vector<cluster::LostRank> ranks = {};  ///< that are gone
};

/// A rank that has lost three partners on other hosts and reached none there is cut off: none of its pairs with other
/// hosts is tried any more, since every attempt takes a while.
class LostPairs {
 public:
  /// References outlive it. Before the first link is opened.
  LostPairs(const LinkRequest& request, cluster::Cluster& cluster, transport::Transport& transport);

  /// Local: whether nothing is tried between this rank and that one any more.
  bool is_lost(int partner) const;

  /// Partners: opens the link, then does `work`. False where the pair is lost, or gets lost in it; then settle()
  /// follows before the next attempt. Throws cluster::ConnectionLost where the transport cannot go on without a link,
  /// or with --strict-ranks.
  bool attempt(int partner, const std::function<void()>& work);

  /// Local, after a collective: takes over which ranks are lost.
  void note_lost_ranks();

  /// Local: whether there is something to settle.
  bool has_news() const { return news_.has_value(); }

  /// Collective: all ranks learn what any has lost since the last time. Returns the partner that this rank has lost
  /// now, if any: what was measured with it does not count, since the other side may have nothing.
  std::optional<std::int32_t> settle();

  const Losses& losses() const { return losses_; }

 private:
  struct News {
    int partner = -1;
    std::string why;
  };

  double limit_s() const;
  bool is_other_host(int rank) const;
  void learn(std::int32_t from, const News& news, bool has_reached_others);

  const LinkRequest& request_;
  cluster::Cluster& cluster_;
  transport::Transport& transport_;
  bool goes_on_;  ///< without lost links
  std::optional<News> news_;
  bool has_reached_others_ = false;  ///< this rank some rank on another host
  std::vector<std::int32_t> own_;    ///< partners that this rank has lost
  Losses losses_;
};

/// What to say of ranks that are gone; nothing where none is.
std::optional<Finding> lost_ranks_finding(const Losses& losses, std::span<const std::uint32_t> host_of,
                                          const std::function<std::string(std::uint32_t host)>& host_name);

/// What to say of pairs whose ranks are there; nothing where no such pair is lost. A host that does not reach most
/// others is named, rather than each of them. `host_name`: by host index.
std::optional<Finding> lost_pairs_finding(const Losses& losses, std::span<const std::uint32_t> host_of,
                                          const std::function<std::string(std::uint32_t host)>& host_name);

}  // namespace leadline::bench::link
