// SPDX-License-Identifier: Apache-2.0
// The link test's schedule: who meets whom in which round. A pure function of its spec, computed alike by every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace leadline::schedule {

/// One rank's share of a round.
struct Meeting {
  int partner = 0;
  bool leads_first = false;  ///< sends first in the first half of the round; in the second half the other side does
};

struct Pair {
  int first = 0, second = 0;  ///< `first` leads first
};

/// Everything that decides a schedule.
struct Spec {
  int num_ranks = 1;
  bool serial = false;               ///< one pair at a time: every round of the tournament becomes N/2 rounds
  std::vector<std::int64_t> rounds;  ///< 1-based rounds to run, in this order; empty = all
  bool shuffle_rounds = false;       ///< random order of the rounds (of the given ones, where some are given)
  int permutation = -1;              ///< index of the random permutation of the ranks; -1 = ranks as they are
  std::uint64_t seed = 1;            ///< of shuffles and permutations
};

/// Round-robin tournament by the circle method (seats as in LinkTest 1.2, reference section 3): rank 0 stands
/// still, the others rotate. N even: N-1 rounds. N odd (LinkTest has no such case): a ghost sits on the place of
/// rank N, and whoever meets it rests; N rounds. N = 1: one round in which the rank meets itself. Every unordered
/// pair meets exactly once. Memory: none, but 8 bytes a round where rounds are given or shuffled, and 8 bytes a rank
/// where ranks are permuted.
class Schedule {
 public:
  /// Throws Error(bad_command_line) for a round that does not exist or stands twice in spec.rounds, for a number of
  /// ranks below 1, for a permutation below -1, and for more rounds than can be shuffled in memory (2^26).
  explicit Schedule(Spec spec);

  std::int64_t num_rounds() const;

  /// The partner of `rank` in `round` (0-based position in the order chosen), or nothing if it rests; both must
  /// exist. O(1).
  std::optional<Meeting> meeting(int rank, std::int64_t round) const;

  /// The round's number in the plain tournament, 1-based (serial: of the plain serial sequence).
  std::int64_t number_of(std::int64_t round) const;

  /// All pairs of a round, for printing. O(N).
  std::vector<Pair> pairs(std::int64_t round) const;

  /// seat_to_rank of the permutation in use; empty = ranks as they are.
  const std::vector<std::int32_t>& permutation() const { return seat_to_rank_; }

 private:
  /// Where a round of the chosen order stands in the plain tournament.
  struct Place {
    std::int64_t step = 1;   ///< 1..num_steps_
    std::int64_t table = 0;  ///< serial: the one table of this step that plays
  };
  Place place_of(std::int64_t round) const;
  Pair pair_at(std::int64_t step, std::int64_t table) const;
  std::int64_t ghost_table(std::int64_t step) const;
  void choose_rounds(const Spec& spec);

  std::int64_t num_ranks_;
  std::int64_t num_seats_;   ///< num_ranks_, or one more for the ghost
  std::int64_t num_steps_;   ///< rounds of the plain tournament
  std::int64_t num_tables_;  ///< pairs a step, without the ghost's
  bool serial_;
  std::vector<std::int64_t> order_;         ///< 1-based numbers of the rounds; empty = all, as they come
  std::vector<std::int32_t> seat_to_rank_;  ///< empty = ranks as they are
  std::vector<std::int32_t> rank_to_seat_;
};

/// The `index`-th (from 0) random permutation of 0..num_ranks-1 from `seed` (Fisher-Yates with our own generator, so
/// the same on every platform). Throws Error(bad_command_line) for a number of ranks below 1.
std::vector<std::int32_t> permutation(int num_ranks, std::uint64_t seed, int index);

}  // namespace leadline::schedule
