// SPDX-License-Identifier: Apache-2.0
// Placements of ranks on hosts, selections of participants, and the closed forms of what their schedules must hold.
#include "scenario.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/random.hpp"

namespace leadline::schedule {
namespace {

std::uint32_t host_of(Placement placement, std::uint32_t rank, std::uint32_t num_ranks) {
  switch (placement) {
    case Placement::none:
    case Placement::one_each:
      return rank;
    case Placement::blocks_of_four:
      return rank / 4;
    case Placement::two_blocks:
      return rank < (num_ranks + 1) / 2 ? 0 : 1;
    case Placement::round_robin:
      return rank % 3;
    case Placement::growing: {
      std::uint32_t host = 0;
      for (std::uint32_t end = 1; end <= rank; end += host + 1) ++host;
      return host;
    }
    case Placement::large_first:
      return rank < num_ranks / 2 ? 0 : rank;
    case Placement::large_last:
      return std::min(rank, num_ranks / 2);
    case Placement::random:
      return static_cast<std::uint32_t>(mix64(rank) % 5) * 1'000'000'007U;
  }
  return 0;
}

std::vector<std::int32_t> participants_of(Participation participants, const std::vector<std::uint32_t>& hosts) {
  const auto num_ranks = static_cast<std::int32_t>(hosts.size());
  std::vector<std::int32_t> result;
  for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
    const auto own = hosts.begin() + rank;
    const bool is_chosen[] = {false, std::find(hosts.begin(), own, *own) == own, rank % 3 != 1, rank == num_ranks - 1};
    if (is_chosen[static_cast<std::size_t>(participants)]) result.push_back(rank);
  }
  return result;
}

}  // namespace

std::string name_of(Placement placement) {
  constexpr const char* names[] = {"no_hosts", "blocks_of_four", "two_blocks", "round_robin", "one_each",
                                   "growing",  "large_first",    "large_last", "random"};
  return names[static_cast<std::size_t>(placement)];
}

Scenario scenario(Placement placement, Participation participants, int num_ranks) {
  Scenario scenario;
  scenario.spec.num_ranks = num_ranks;
  for (int rank = 0; rank < num_ranks; ++rank) {
    scenario.groups.push_back(
        host_of(placement, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(num_ranks)));
  }
  scenario.spec.participants = participants_of(participants, scenario.groups);
  if (placement != Placement::none) scenario.spec.group_of = scenario.groups;
  return scenario;
}

Expected::Expected(const Spec& spec) : bisection_(spec.bisection), ranks_(static_cast<std::size_t>(spec.num_ranks)) {
  std::vector<std::int32_t> seats(ranks_.size());
  std::iota(seats.begin(), seats.end(), 0);
  if (spec.permutation >= 0) seats = permutation(spec.num_ranks, spec.ranks_seed, spec.permutation);

  std::map<std::uint32_t, std::size_t> numbers;
  for (const std::int32_t rank : seats) {
    if (!spec.participants.empty() && std::ranges::count(spec.participants, rank) == 0) continue;
    const auto index = static_cast<std::size_t>(rank);
    const std::uint32_t name = spec.group_of.empty() ? static_cast<std::uint32_t>(rank) : spec.group_of[index];
    ranks_[index] = {true, numbers.try_emplace(name, numbers.size()).first->second};
    sizes_.resize(numbers.size());
    ++sizes_[ranks_[index].item];
  }
  alone_ = spec.group_of.empty() && !bisection_ && sizes_.size() == 1;
}

bool Expected::allows(const Pair& pair) const {
  const Rank first = ranks_.at(static_cast<std::size_t>(pair.first));
  const Rank second = ranks_.at(static_cast<std::size_t>(pair.second));
  if (!first.plays || !second.plays) return false;
  if (first.item == second.item) return alone_;
  return !bisection_ || (in_first_half(first.item) && !in_first_half(second.item));
}

std::int64_t Expected::num_pairs() const {
  if (alone_) return 1;
  std::int64_t all = 0, squares = 0, half = 0;
  for (std::size_t item = 0; item < sizes_.size(); ++item) {
    all += sizes_[item];
    squares += sizes_[item] * sizes_[item];
    half += in_first_half(item) ? sizes_[item] : 0;
  }
  return bisection_ ? half * (all - half) : (all * all - squares) / 2;
}

/// A group round lasts as long as the largest group that plays in it. With an even number of groups all play in all of
/// them; with an odd number each one (bisection: each of the first half) rests in one of them.
std::int64_t Expected::num_parallel_rounds() const {
  if (num_pairs() == 0 || alone_) return num_pairs();
  const auto num_items = static_cast<std::int64_t>(sizes_.size());
  const std::int64_t num_group_rounds = bisection_ ? (num_items + 1) / 2 : num_items - 1 + num_items % 2;
  const auto largest = std::ranges::max_element(sizes_);
  std::vector<std::int64_t> others(sizes_.begin(), largest);
  others.insert(others.end(), largest + 1, sizes_.end());
  const bool rests =
      num_items % 2 == 1 && (!bisection_ || in_first_half(static_cast<std::size_t>(largest - sizes_.begin())));
  const std::int64_t spared = rests ? *largest - std::ranges::max(others) : 0;
  return num_group_rounds * *largest - spared;
}

}  // namespace leadline::schedule
