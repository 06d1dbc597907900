// SPDX-License-Identifier: Apache-2.0
// The link test's schedule: who meets whom in which round. A pure function of its spec, computed alike by every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/matching.hpp"
#include "schedule/sampled_rounds.hpp"

namespace leadline::schedule {

/// One rank's share of a round.
struct Pairing {
  int partner = 0;
  bool leads_first = false;  ///< sends first in the first half of the round; in the second half the other side does
};

struct Pair {
  int first = 0, second = 0;  ///< `first` leads first
  bool operator==(const Pair&) const = default;
};

/// Everything that decides a schedule. "Participants" are the ranks that take part.
struct Spec {
  int num_ranks = 1;
  std::vector<std::int32_t> participants{};   ///< ranks that take part, ascending; empty = all
  std::span<const std::uint32_t> group_of{};  ///< group of every rank; not empty: only pairs of different groups
  bool bisection = false;                     ///< only pairs across two halves: of the participants, or of the groups
  bool shift = false;                  ///< in place of pairs: round k has rank i send to i + k, counted round a ring
  bool serial = false;                 ///< one pair at a time: every round becomes as many rounds as it has pairs
  std::vector<std::int64_t> rounds{};  ///< 1-based rounds to run, in this order; empty = all
  bool shuffle_rounds = false;         ///< random order of the rounds (of the given ones, where some are given)
  int permutation = -1;                ///< index of the random permutation of the ranks; -1 = ranks as they are
  std::uint64_t rounds_seed = 1;       ///< of the order of the rounds
  std::uint64_t ranks_seed = 1;        ///< of the permutation

  /// Random rounds instead of all: with it only num_ranks and host_of count.
  std::optional<Sample> sample{};
  std::span<const std::uint32_t> host_of{};  ///< by rank; for a sample
};

/// Who meets whom. Every pair that the spec allows meets exactly once, nobody has two pairings in a round.
///
/// All pairs: round-robin tournament by the circle method (seats as in LinkTest 1.2, reference section 3): the
/// participant on seat 0 stands still, the others rotate. Even: one round less than participants. Odd: a ghost sits on
/// the last seat, and whoever meets it rests; as many rounds as participants. One participant: one round in which it
/// meets itself.
///
/// Bisection: the first half of the seats (the larger one where odd) against the second; as many rounds as the first
/// half has seats. In round r (from 0) seat i of the first half meets seat i + r of the second, counted round the
/// larger half, or rests where there is none. The first half always leads first, so that the halves of a round load the
/// cut one way at a time.
///
/// Groups: groups are numbered by the lowest seat in them and meet like participants do (all pairs, or with bisection
/// the first half of them against the second). While two groups meet, their members meet as two halves do, the group
/// that leads first giving the first half; a pair of small groups rests until the largest pair of the group round is
/// done.
///
/// A shift: round k, from 1, of one less than the participants. The participant on seat i sends to the one on seat i +
/// k and receives from the one on seat i - k, counted round all seats. So each ordered pair meets once, and everybody
/// has two partners in a round, who may be the same. Nothing of groups, halves and serial counts.
///
/// A sample: see SampledRounds; pairs may meet in several rounds, and nothing else of the spec counts.
///
/// A permutation says which rank has which seat; seats of those who do not play are left out.
///
/// Memory: none for all pairs and bisection of all ranks; 8 bytes a rank for participants, permutations or groups;
/// where groups differ in size 4 bytes a group, serial 4 more and 8 a group round; 8 bytes a round where rounds are
/// given or shuffled.
class Schedule {
 public:
  /// Throws Error(bad_command_line) for a round that does not exist or stands twice in spec.rounds, for a number of
  /// ranks below 1, for a permutation below -1, for more rounds than can be shuffled in memory (2^26), and where there
  /// is no pair: bisection or shift of one participant, one group only, a sample of one rank.
  explicit Schedule(Spec spec);

  /// Depends on the permutation only where groups of different sizes are cut into halves.
  std::int64_t num_rounds() const;

  /// The partner of `rank` in `round` (0-based position in the order chosen), or nothing if it rests; both must
  /// exist. O(1); with groups of different sizes O(log groups), serial O(groups).
  std::optional<Pairing> pairing(int rank, std::int64_t round) const;

  /// Of a shift: whom `rank` receives from, while pairing() says whom it sends to.
  std::optional<int> source(int rank, std::int64_t round) const;

  /// The round's number in the order that is not chosen nor shuffled, 1-based (serial: of the plain serial sequence).
  std::int64_t number_of(std::int64_t round) const;

  /// All pairs of a round, for printing. O(N).
  std::vector<Pair> pairs(std::int64_t round) const;

 private:
  Groups sit_in_groups(std::span<const std::uint32_t> group_of);
  void take_seats(const Spec& spec);
  void choose_rounds(Spec&& spec);
  std::int64_t num_seats() const;
  std::int64_t num_all_rounds() const;
  int rank_on(std::int64_t seat) const;
  std::int64_t seat_of(int rank) const;

  int num_ranks_;
  std::optional<SampledRounds> sampled_;    ///< in place of all that follows
  bool is_shift_ = false;                   ///< in place of the matching
  GroupMatching matching_;                  ///< of seats
  std::vector<std::int64_t> order_;         ///< 1-based numbers of the rounds; empty = all, as they come
  std::vector<std::int32_t> seat_to_rank_;  ///< empty = every rank has the seat of its own number
  std::vector<std::int32_t> rank_to_seat_;  ///< -1 = does not play
};

/// The `index`-th (from 0) random permutation of 0..num_ranks-1 from `seed` (Fisher-Yates with our own generator, so
/// the same on every platform). Throws Error(bad_command_line) for a number of ranks below 1.
std::vector<std::int32_t> permutation(int num_ranks, std::uint64_t seed, int index);

}  // namespace leadline::schedule
