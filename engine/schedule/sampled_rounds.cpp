// SPDX-License-Identifier: Apache-2.0
// Makes each round from (seed, round) alone.
#include "schedule/sampled_rounds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "schedule/matching.hpp"

namespace leadline::schedule {
namespace {

/// Whether hosts can meet below the same switch of a level, and elsewhere.
bool parts_hosts(const std::vector<std::uint32_t>& group_of_host) {
  std::vector<std::uint32_t> groups = group_of_host;
  std::sort(groups.begin(), groups.end());
  const bool has_pair = std::adjacent_find(groups.begin(), groups.end()) != groups.end();
  return has_pair && groups.front() != groups.back();
}

constexpr std::uint64_t hosts_stream = 1ULL << 40, ranks_stream = 1ULL << 41;  // plus round, or round and host

}  // namespace

SampledRounds::SampledRounds(std::span<const std::uint32_t> host_of, Sample sample)
    : sample_(std::move(sample)), host_of_(host_of.begin(), host_of.end()) {
  const std::uint32_t num_hosts = host_of.empty() ? 0 : *std::max_element(host_of.begin(), host_of.end()) + 1;
  begin_.assign(num_hosts + 1, 0);
  for (const std::uint32_t host : host_of) ++begin_[host + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  ranks_.resize(host_of.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
    ranks_[next[host_of[rank]]++] = static_cast<std::int32_t>(rank);
  }
  const bool has_inside = num_hosts < host_of.size();
  if (num_hosts < 2) {
    cycle_ = {{Reach::same_host}};
    return;
  }
  // Far pairs show hosts, uplinks and cables; near ones distinguish a switch from its uplink, and a host from its port.
  std::erase_if(sample_.groups_of_hosts, [](const auto& groups) { return !parts_hosts(groups); });
  const std::size_t num_levels = sample_.groups_of_hosts.size();
  cycle_.push_back({Reach::any_host});
  if (num_levels > 0) cycle_.push_back({Reach::same_group, 0});
  cycle_.push_back({Reach::any_host});
  if (has_inside) cycle_.push_back({Reach::same_host});
  for (std::size_t level = 1; level < num_levels; ++level) {
    cycle_.push_back({Reach::any_host});
    cycle_.push_back({Reach::same_group, level});
  }
  cycle_.push_back({Reach::any_host});
}

SampledRounds::Kind SampledRounds::kind_of(std::int64_t round) const {
  return cycle_[static_cast<std::size_t>(round) % cycle_.size()];
}

/// How many rounds of its kind come before a round. Counted so, and not by the round, every pair of two hosts has its
/// turn, however long the cycle is.
std::int64_t SampledRounds::turn_of(std::int64_t round) const {
  const Kind kind = kind_of(round);
  const auto length = static_cast<std::int64_t>(cycle_.size());
  const auto here = cycle_.begin() + static_cast<std::ptrdiff_t>(round % length);
  const auto in_cycle = std::count(cycle_.begin(), cycle_.end(), kind);
  return round / length * in_cycle + std::count(cycle_.begin(), here, kind);
}

std::span<const std::int32_t> SampledRounds::ranks_of(std::int32_t host) const {
  const auto index = static_cast<std::size_t>(host);
  return std::span(ranks_).subspan(begin_[index], begin_[index + 1] - begin_[index]);
}

/// Hosts in random order, and within that by groups: neighbours meet.
std::vector<SampledRounds::RankPair> SampledRounds::pairs_of_hosts(std::int64_t round, const Kind& kind) const {
  std::vector<std::int32_t> hosts(begin_.size() - 1);
  std::iota(hosts.begin(), hosts.end(), 0);
  Random(sample_.seed, hosts_stream + static_cast<std::uint64_t>(round)).shuffle(hosts);
  const auto group_of = [&](std::int32_t host) {
    return kind.reach == Reach::same_group ? sample_.groups_of_hosts[kind.level][static_cast<std::size_t>(host)] : 0;
  };
  std::stable_sort(hosts.begin(), hosts.end(),
                   [&](std::int32_t a, std::int32_t b) { return group_of(a) < group_of(b); });
  std::vector<RankPair> pairs;
  for (std::size_t seat = 0; seat + 1 < hosts.size(); ++seat) {
    if (group_of(hosts[seat]) != group_of(hosts[seat + 1])) continue;
    pairs.push_back({hosts[seat], hosts[seat + 1]});
    ++seat;
  }
  return pairs;
}

void SampledRounds::add_pairs(std::int64_t turn, const RankPair& hosts, std::vector<RankPair>& pairs) const {
  const auto first = ranks_of(hosts.leader), second = ranks_of(hosts.other);
  const auto num_first = static_cast<std::int64_t>(first.size()), num_second = static_cast<std::int64_t>(second.size());
  const Matching halves = Matching::halves(num_first, num_second);
  for (std::int64_t item = 0; item < num_first; ++item) {
    const auto opponent = halves.opponent(item, turn % halves.num_rounds());
    if (!opponent) continue;
    pairs.push_back(
        {first[static_cast<std::size_t>(item)], second[static_cast<std::size_t>(opponent->item - num_first)]});
  }
}

void SampledRounds::add_pairs_inside(std::int64_t round, std::int32_t host, std::vector<RankPair>& pairs) const {
  const auto of_host = ranks_of(host);
  std::vector<std::int32_t> ranks(of_host.begin(), of_host.end());
  const std::uint64_t draw = static_cast<std::uint64_t>(round) * begin_.size() + static_cast<std::uint64_t>(host);
  Random(sample_.seed, ranks_stream + draw).shuffle(ranks);
  for (std::size_t seat = 0; seat + 1 < ranks.size(); seat += 2) pairs.push_back({ranks[seat], ranks[seat + 1]});
}

std::vector<SampledRounds::RankPair> SampledRounds::pairs(std::int64_t round) const {
  const Kind kind = kind_of(round);
  std::vector<RankPair> all;
  if (kind.reach == Reach::same_host) {
    for (std::size_t host = 0; host + 1 < begin_.size(); ++host) {
      add_pairs_inside(round, static_cast<std::int32_t>(host), all);
    }
    return all;
  }
  const std::int64_t turn = turn_of(round);
  for (const RankPair& hosts : pairs_of_hosts(round, kind)) add_pairs(turn, hosts, all);
  return all;
}

std::optional<SampledRounds::Seat> SampledRounds::seat(std::int32_t rank, std::int64_t round) const {
  const Kind kind = kind_of(round);
  const auto own_host = static_cast<std::int32_t>(host_of_[static_cast<std::size_t>(rank)]);
  std::vector<RankPair> near;
  if (kind.reach == Reach::same_host) {
    add_pairs_inside(round, own_host, near);
  } else {
    for (const RankPair& hosts : pairs_of_hosts(round, kind)) {
      if (hosts.leader == own_host || hosts.other == own_host) add_pairs(turn_of(round), hosts, near);
    }
  }
  for (const RankPair& pair : near) {
    if (pair.leader == rank) return Seat{pair.other, true};
    if (pair.other == rank) return Seat{pair.leader, false};
  }
  return std::nullopt;
}

std::vector<std::int32_t> partners_by_round(const SampledRounds& rounds, std::size_t num_ranks,
                                            std::int64_t num_rounds) {
  const auto length = static_cast<std::size_t>(num_rounds);
  std::vector<std::int32_t> partners(num_ranks * length, -1);
  for (std::size_t round = 0; round < length; ++round) {
    for (const auto& [leader, other] : rounds.pairs(static_cast<std::int64_t>(round))) {
      partners[static_cast<std::size_t>(leader) * length + round] = other;
      partners[static_cast<std::size_t>(other) * length + round] = leader;
    }
  }
  return partners;
}

}  // namespace leadline::schedule
