// SPDX-License-Identifier: Apache-2.0
// Rounds for tests that cannot take all of them: random matchings of hosts, near and far in turn, so that after any
// number of rounds every host has met about as many others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace leadline::schedule {

/// Files say who met whom by the sample alone, so whatever changes who meets whom needs another number here, and keeps
/// the way of this one for them.
inline constexpr std::int32_t way_of_drawing = 1;

/// What a sample follows from.
struct Sample {
  std::int64_t num_rounds = 0;
  std::uint64_t seed = 1;

  /// Of each level of the network, innermost first, the group of every host; empty = nothing is known. Levels without a
  /// group of two hosts, or with one group only, say nothing and are left out.
  std::vector<std::vector<std::uint32_t>> groups_of_hosts{};
};

/// In a round all hosts are matched: each with any other, or (in turns, where there are such) with one below the same
/// switch of some level, or each with itself. While two hosts meet, each rank of one meets one of the other, each round
/// another; a rank of the larger one may rest. Inside a host ranks meet at random. Pairs may meet again in a later
/// round.
///
/// Memory: 12 bytes a rank. Every answer costs O(hosts log hosts), inside hosts O(ranks).
class SampledRounds {
 public:
  /// Hosts by rank, numbered by first appearance.
  SampledRounds(std::span<const std::uint32_t> host_of, Sample sample);

  std::int64_t num_rounds() const { return sample_.num_rounds; }

  struct Seat {
    std::int32_t partner = 0;
    bool leads = false;
  };
  /// Nothing where the rank rests.
  std::optional<Seat> seat(std::int32_t rank, std::int64_t round) const;

  /// All pairs of a round, who leads first.
  struct RankPair {
    std::int32_t leader = 0, other = 0;
  };
  std::vector<RankPair> pairs(std::int64_t round) const;

 private:
  enum class Reach : std::uint8_t { any_host, same_group, same_host };
  struct Kind {
    Reach reach = Reach::any_host;
    std::size_t level = 0;  ///< of same_group
    bool operator==(const Kind&) const = default;
  };

  Kind kind_of(std::int64_t round) const;
  std::int64_t turn_of(std::int64_t round) const;
  std::vector<RankPair> pairs_of_hosts(std::int64_t round, const Kind& kind) const;
  std::span<const std::int32_t> ranks_of(std::int32_t host) const;
  void add_pairs(std::int64_t turn, const RankPair& hosts, std::vector<RankPair>& pairs) const;
  void add_pairs_inside(std::int64_t round, std::int32_t host, std::vector<RankPair>& pairs) const;

  Sample sample_;
  std::vector<std::uint32_t> host_of_;
  std::vector<std::int32_t> ranks_;  ///< host after host
  std::vector<std::uint32_t> begin_;
  std::vector<Kind> cycle_;  ///< kinds of rounds, over and over
};

/// Whom each rank meets in each round, -1 = it rests: [rank][round]. So many rounds, all that there are at most.
std::vector<std::int32_t> partners_by_round(const SampledRounds& rounds, std::size_t num_ranks,
                                            std::int64_t num_rounds);

}  // namespace leadline::schedule
