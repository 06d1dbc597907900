// SPDX-License-Identifier: Apache-2.0
// A spec with hosts and participants of its own, and what must be true of its schedule, worked out the slow way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace leadline::schedule {

/// How ranks are spread over hosts.
enum class Placement {
  none,  ///< no groups
  blocks_of_four,
  two_blocks,
  round_robin,
  one_each,
  growing,      ///< 1, 2, 3 ... ranks
  large_first,  ///< half of the ranks on one host, the others alone
  large_last,
  random,
};
constexpr Placement all_placements[] = {Placement::none,        Placement::blocks_of_four, Placement::two_blocks,
                                        Placement::round_robin, Placement::one_each,       Placement::growing,
                                        Placement::large_first, Placement::large_last,     Placement::random};
std::string name_of(Placement placement);

enum class Participation { all, one_per_host, two_thirds, last_only };
constexpr Participation all_participants[] = {Participation::all, Participation::one_per_host,
                                              Participation::two_thirds, Participation::last_only};

struct Scenario {
  Placement placement = Placement::none;
  Participation participants = Participation::all;
  Spec spec;                          ///< num_ranks and the flags are the test's choice
  std::vector<std::uint32_t> groups;  ///< what spec.group_of refers to
};

Scenario scenario(Placement placement, Participation participants, int num_ranks);

/// What a schedule must be, from the spec alone: seats, groups and halves as the header says, but no rounds.
class Expected {
 public:
  explicit Expected(const Spec& spec);

  /// Whether these two may meet, the first one leading.
  bool allows(const Pair& pair) const;

  /// 0 where the schedule must be refused.
  std::int64_t num_pairs() const;
  std::int64_t num_parallel_rounds() const;

 private:
  struct Rank {
    bool plays = false;
    std::size_t item = 0;  ///< its group, or its seat where there are no groups
  };
  bool in_first_half(std::size_t item) const { return 2 * item < sizes_.size() + sizes_.size() % 2; }

  bool bisection_;
  bool alone_ = false;  ///< one participant, who meets itself
  std::vector<Rank> ranks_;
  std::vector<std::int64_t> sizes_;  ///< by item
};

}  // namespace leadline::schedule
