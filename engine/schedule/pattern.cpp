// SPDX-License-Identifier: Apache-2.0
// Random matchings, drawn alike by everybody from a seed and a number, and proposals that swap some partners.
#include "schedule/pattern.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"

namespace leadline::schedule {
namespace {

/// Streams of the seed; an index is added to its own. Schedules have theirs far below.
constexpr std::uint64_t random_pattern_stream = std::uint64_t{1} << 61;
constexpr std::uint64_t swap_stream = std::uint64_t{2} << 61;

std::size_t place(std::int32_t index) { return static_cast<std::size_t>(index); }

bool hosts_matter(const Players& players) { return !players.within_hosts && !players.host_of.empty(); }

/// Seats of which seat i plays with seat i + half. With an odd number the last one has no partner: place `half` of the
/// second members.
class Table {
 public:
  Table(std::vector<std::int32_t>& seats, std::span<const std::uint32_t> host_of)
      : seats_(seats), host_of_(host_of), half_(seats.size() / 2), num_seconds_(seats.size() - half_) {}

  /// Parts the pairs on one host, as many as can be.
  void part_hosts() {
    for (std::size_t pair = 0; pair < half_; ++pair) {
      if (host(pair) != host(pair + half_)) continue;
      const std::size_t other = find_exchange(host(pair));
      // Then every pair has a member on this host, and who is left over lies there, too: nothing can be gained.
      if (other == num_seconds_) return;
      std::swap(seats_[pair + half_], seats_[other + half_]);
    }
  }

 private:
  std::uint32_t host(std::size_t seat) const { return host_of_[place(seats_[seat])]; }

  bool is_free_of(std::uint32_t host_index, std::size_t pair) const {
    return host(pair + half_) != host_index && (pair == half_ || host(pair) != host_index);
  }

  /// A pair without members on the host, or the player without partner; num_seconds_ if there is none. Looking on from
  /// where the last search ended passes by the seats about once in all, however many pairs there are to part.
  std::size_t find_exchange(std::uint32_t host_index) {
    for (std::size_t looked = 0; looked < num_seconds_; ++looked) {
      const std::size_t pair = next_;
      next_ = pair + 1 == num_seconds_ ? 0 : pair + 1;
      if (is_free_of(host_index, pair)) return pair;
    }
    return num_seconds_;
  }

  std::vector<std::int32_t>& seats_;
  std::span<const std::uint32_t> host_of_;
  std::size_t half_, num_seconds_;
  std::size_t next_ = 0;  ///< the pair that the next search looks at first
};

std::size_t num_to_swap(std::size_t num_pairs, double share) {
  const auto wanted =
      static_cast<std::size_t>(std::llround(std::clamp(share, 0.0, 1.0) * static_cast<double>(num_pairs)));
  return std::min(std::max<std::size_t>(wanted, 2), num_pairs);
}

}  // namespace

std::int64_t Pattern::num_connections() const {
  return std::ranges::count_if(send_to, [](std::int32_t to) { return to != no_rank; });
}

Route Pattern::route(std::int32_t rank) const {
  const auto sender = std::ranges::find(send_to, rank);
  return {send_to[place(rank)],
          sender == send_to.end() ? no_rank : static_cast<std::int32_t>(sender - send_to.begin())};
}

std::vector<std::int32_t> players_of(const Players& players) {
  assert(players.host_of.empty() || players.host_of.size() == static_cast<std::size_t>(players.num_ranks));
  std::vector<std::int32_t> ranks;
  ranks.reserve(static_cast<std::size_t>(std::max(players.num_ranks, 0)));
  std::vector<std::int32_t> num_of_host;
  for (std::int32_t rank = 0; rank < players.num_ranks; ++rank) {
    if (players.per_host > 0 && !players.host_of.empty()) {
      const std::size_t host = players.host_of[place(rank)];
      if (host >= num_of_host.size()) num_of_host.resize(host + 1);
      if (++num_of_host[host] > players.per_host) continue;
    }
    ranks.push_back(rank);
  }
  if (ranks.size() >= 2) return ranks;
  throw Error(ExitStatus::bad_command_line, ranks.size() == 1 ? "1 rank forms no pair" : "0 ranks form no pair",
              "a pair needs two",
              players.num_ranks < 2 ? "Start at least 2 ranks" : "Let more ranks of a host take part");
}

// Everything that is drawn comes from Random(seed, 2^61 + index), modulo 2^64:
//   1. seats = ranks, shuffled (Random::shuffle). half = n / 2, rounded down.
//   2. Where pairs on one host are not wanted: for every pair i = 0 .. half - 1 whose seats i and i + half lie on one
//      host h, look for a pair j of which neither seat j nor seat j + half is on h. j = half stands for the last seat
//      of an odd number, who has no partner. The search begins at j = 0, a later search of the same pattern behind the
//      j that the last one found; behind n - half - 1 comes 0. Seats i + half and j + half change places. If there is
//      no such j at all, the whole step ends. (Nothing is drawn: where a player sits is random already.)
//   3. Seat i and seat i + half send to each other, unless they lie on one host and may not.
Pattern random_pattern(const Players& players, std::span<const std::int32_t> ranks, std::uint64_t seed,
                       std::uint64_t index) {
  assert(!hosts_matter(players) || players.host_of.size() == static_cast<std::size_t>(players.num_ranks));
  Random random(seed, random_pattern_stream + index);
  std::vector<std::int32_t> seats(ranks.begin(), ranks.end());
  random.shuffle(seats);
  if (hosts_matter(players)) Table(seats, players.host_of).part_hosts();

  Pattern pattern{std::vector<std::int32_t>(static_cast<std::size_t>(players.num_ranks), no_rank)};
  const std::size_t half = seats.size() / 2;
  for (std::size_t pair = 0; pair < half; ++pair) {
    const std::int32_t first = seats[pair], second = seats[pair + half];
    if (hosts_matter(players) && players.host_of[place(first)] == players.host_of[place(second)]) continue;
    pattern.send_to[place(first)] = second;
    pattern.send_to[place(second)] = first;
  }
  return pattern;
}

// Pairs in random order, each turned at random, all from Random(seed, 2^62 + step): the second member of each chosen
// pair changes places with that of the next, or, where that would put a pair on one host, with its first member. Of two
// pairs between hosts one of both ways is always free. So each chosen pair is parted, and none meets again.
Pattern with_swapped_partners(const Pattern& pattern, const Players& players, double share, std::uint64_t seed,
                              std::uint64_t step) {
  struct Pair {
    std::int32_t first, second;
  };
  std::vector<Pair> couples;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(pattern.send_to.size()); ++rank) {
    if (rank < pattern.send_to[place(rank)]) couples.push_back({rank, pattern.send_to[place(rank)]});
  }
  std::vector<std::int32_t> order(couples.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, swap_stream + step);
  random.shuffle(order);
  order.resize(num_to_swap(couples.size(), share));

  const auto may_meet = [&players](std::int32_t one, std::int32_t other) {
    return !hosts_matter(players) || players.host_of[place(one)] != players.host_of[place(other)];
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    Pair& here = couples[place(order[i - 1])];
    Pair& next = couples[place(order[i])];
    if (random.below(2) == 1) std::swap(next.first, next.second);
    if (!may_meet(here.first, next.second) || !may_meet(next.first, here.second)) std::swap(next.first, next.second);
    if (!may_meet(here.first, next.second) || !may_meet(next.first, here.second)) continue;
    std::swap(here.second, next.second);
  }
  Pattern swapped{std::vector<std::int32_t>(pattern.send_to.size(), no_rank)};
  for (const Pair& couple : couples) {
    swapped.send_to[place(couple.first)] = couple.second;
    swapped.send_to[place(couple.second)] = couple.first;
  }
  return swapped;
}

}  // namespace leadline::schedule
