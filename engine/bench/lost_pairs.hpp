// SPDX-License-Identifier: Apache-2.0
// Pairs of ranks between which nothing can be measured, and ranks that are gone: all others leave them out and go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"
#include "core/progress_counter.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "model/request.hpp"
#include "model/result.hpp"
#include "transport/transport.hpp"

namespace leadline::bench {

/// A pair whose link did not open, or broke.
struct LostPair {
  std::int32_t low = -1, high = -1;  ///< ranks
  std::string why;                   ///< as one of them saw it
  bool partner_ended_it = false;     ///< all that this one saw: the other knows the cause
};

/// The same on all ranks.
struct Losses {
  std::vector<LostPair> pairs;                ///< each once, in the order in which they were lost
  std::vector<std::int32_t> cut_off_ranks;    ///< whose pairs with other hosts are not tried, either
  std::vector<cluster::LostRank> ranks = {};  ///< that are gone
};

/// Local, on all ranks between the same two collectives, before the first link is opened: whether a run goes on without
/// links and ranks that are lost: unless --strict-ranks ends it, or the transport cannot. A link that is silent for
/// `limit_s` is lost. Throws AgreedError where the transport cannot, and a rank has not come.
bool go_on_without_lost(const RunRequest& request, cluster::Cluster& cluster, transport::Transport& transport,
                        double limit_s);

/// A rank that has lost three partners on other hosts and reached none there is cut off: none of its pairs with other
/// hosts is tried any more, since every attempt takes a while.
///
/// Of pairs: attempt(), and settle() at the end of each round. Of exchanges with many neighbours, whose ranks wait for
/// one another: until_nothing_is_lost() around open() and exchange().
class LostPairs {
 public:
  /// References outlive it. Before the first link is opened. `silence_limit_s`: see go_on_without_lost(); by default
  /// as long as an attempt may take.
  LostPairs(const RunRequest& request, cluster::Cluster& cluster, transport::Transport& transport,
            std::optional<double> silence_limit_s = std::nullopt);
  LostPairs(const LostPairs&) = delete;
  LostPairs& operator=(const LostPairs&) = delete;

  /// Local: whether the run goes on without lost links and ranks.
  bool goes_on() const { return goes_on_; }

  /// Local: whether nothing is tried between this rank and that one any more.
  bool is_lost(int partner) const;

  /// Local: the same of any two ranks; alike on all ranks after the same settling.
  bool is_lost(int one, int other) const;

  /// Partners: opens the link, then does `work`. False where the pair is lost, or gets lost in it; then settle()
  /// follows before the next attempt. Throws cluster::ConnectionLost where the transport cannot go on without a link,
  /// or with --strict-ranks.
  bool attempt(int partner, const std::function<void()>& work);

  /// Local: a link that is still in use has broken; settle() follows, and at the end of its use
  /// Transport::drop_link().
  void add(const cluster::ConnectionLost& lost);

  /// Partners: opens the links to those of these ranks that are not lost, in this order. Throws likewise.
  void open(std::span<const std::int32_t> partners);

  /// Collective over all ranks: see Transport::exchange_with_neighbours(). Where a link breaks the rest is done without
  /// it, and what was measured is void.
  std::optional<kernel::NeighbourMismatch> exchange(const kernel::NeighbourExchange& exchange,
                                                    const kernel::NeighbourBuffers& buffers,
                                                    const kernel::NeighbourTask& task);

  /// Collective: does `step` on all ranks, again and again until no rank has lost anything in it; nothing else happens
  /// where the transport cannot go on. From the first loss on barriers are those of the control plane.
  void until_nothing_is_lost(const std::function<void()>& step);

  /// Local, after a collective: takes over which ranks are lost.
  void note_lost_ranks();

  /// Local: whether nothing is lost.
  bool is_empty() const {
    return news_.empty() && losses_.pairs.empty() && losses_.cut_off_ranks.empty() && losses_.ranks.empty();
  }

  /// Local: whether there is something to settle.
  bool has_news() const { return !news_.empty(); }

  /// Collective: all ranks learn what any has lost since the last time. Returns the partners that this rank has lost
  /// now: what was measured with them does not count, since the other side may have nothing.
  std::vector<std::int32_t> settle();

  const Losses& losses() const { return losses_; }

  /// Local: brings `known` up to date, and tells the progress, if there is one, of pairs whose ranks are there. Whether
  /// there was anything new.
  template <class Progress>
  bool report(Losses& known, Progress* progress) const {
    const std::size_t num_pairs_known = known.pairs.size();
    if (losses_.pairs.size() == num_pairs_known && losses_.ranks.size() == known.ranks.size()) return false;
    known = losses_;
    for (const LostPair& pair : of_present_ranks(num_pairs_known)) {
      if (progress != nullptr) progress->pair_lost(pair.low, pair.high, pair.why);
    }
    return true;
  }

 private:
  struct News {
    int partner = -1;
    std::string why;
    bool partner_ended_it = false;
  };

  double limit_s() const;
  bool is_other_host(int one, int other) const;
  void note(const cluster::ConnectionLost& lost);
  bool has_lost_anything();
  void use_barrier_of_cluster();
  AwaitedRanks::Ranks awaited_in(std::span<const kernel::NeighbourChannel> channels) const;
  std::vector<LostPair> of_present_ranks(std::size_t begin) const;
  bool learn(std::int32_t from, const News& news, bool has_reached_others);

  const RunRequest& request_;
  cluster::Cluster& cluster_;
  transport::Transport& transport_;
  bool goes_on_;  ///< without lost links
  std::vector<News> news_;
  bool has_reached_others_ = false;  ///< this rank some rank on another host
  Losses losses_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> lost_pairs_;  ///< low, high; where in losses_.pairs
  std::size_t num_lost_ranks_settled_ = 0;                                   ///< by until_nothing_is_lost()
  bool has_barrier_over_links_ = true;
};

/// The one of two reasons for the same pair that says more than that the partner ended the link; else the first.
const LostPair& cause_of(const LostPair& first, const LostPair& second);

/// Adds what is to be said of both. `host_name`: by host index.
void add_findings(const Losses& losses, std::span<const std::uint32_t> host_of,
                  const std::function<std::string(std::uint32_t host)>& host_name, std::vector<Finding>& findings);

/// Why the status is not 0; empty where nothing is lost.
std::string why_incomplete(const Losses& losses);

/// What to say of pairs whose ranks are there; nothing where no such pair is lost. A host that does not reach most
/// others is named, rather than each of them. `host_name`: by host index.
std::optional<Finding> lost_pairs_finding(const Losses& losses, std::span<const std::uint32_t> host_of,
                                          const std::function<std::string(std::uint32_t host)>& host_name);

/// Whether it says who did not come, was lost, or which pairs could not be measured.
bool is_of_loss(const Finding& finding);

}  // namespace leadline::bench
