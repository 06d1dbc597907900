// SPDX-License-Identifier: Apache-2.0
// Chooses pairs of a pattern for the baseline, and the connections that are measured again.
#include "bench/bisection/retest.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/random.hpp"
#include "stats/slowest.hpp"

namespace leadline::bench::bisection {
namespace {

/// A connection and the pattern that it was seen in. Plain data: it travels as bytes.
struct Candidate {
  stats::TimedPair pair;
  std::uint64_t number = 0;
};
using Candidates = std::vector<Candidate>;

bool comes_first(const Candidate& a, const Candidate& b) {
  return a.pair == b.pair ? a.number < b.number : stats::is_slower(a.pair, b.pair);
}

/// Slowest first, no two of them between the same ranks, at most `count`.
Candidates shortened(Candidates seen, std::size_t count) {
  std::sort(seen.begin(), seen.end(), comes_first);
  Candidates kept;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Candidate& one : seen) {
    if (kept.size() == count) break;
    if (pairs.insert(std::minmax(one.pair.from, one.pair.to)).second) kept.push_back(one);
  }
  return kept;
}

std::string packed(const Candidates& seen) {
  std::string text(seen.size() * sizeof(Candidate), '\0');
  if (!seen.empty()) std::memcpy(text.data(), seen.data(), text.size());
  return text;
}

void unpack(std::string_view text, Candidates& to) {
  const std::size_t begin = to.size();
  to.resize(begin + text.size() / sizeof(Candidate));
  if (!text.empty()) std::memcpy(to.data() + begin, text.data(), text.size());
}

Candidates own_list(std::uint32_t rank, std::span<const RankTimes> times) {
  Candidates seen;
  for (std::size_t number = 0; number < times.size(); ++number) {
    const RankTimes& own = times[number];
    if (own.from == schedule::no_rank) continue;
    seen.push_back({{static_cast<std::uint32_t>(own.from), rank, own.time_ns}, number});
  }
  return seen;
}

/// The fastest connection of a rank: of one that is slow with everybody the one that others have slowed down least.
Candidates fastest_of(const Candidates& own) {
  Candidates fastest;
  for (const Candidate& one : own) {
    if (!(one.pair.time_ns > 0)) continue;
    if (fastest.empty() || one.pair.time_ns < fastest.front().pair.time_ns) fastest = {one};
  }
  return fastest;
}

/// Collective: of those of all ranks the slowest, on all ranks alike.
Candidates slowest_of_all(cluster::Cluster& cluster, const Candidates& own, std::size_t count) {
  Candidates all;
  if (count == 0) return all;
  unpack(cluster.all_reduce(packed(shortened(own, count)),
                            [count](const std::string& left, std::string_view right) {
                              Candidates both;
                              unpack(left, both);
                              unpack(right, both);
                              return packed(shortened(std::move(both), count));
                            }),
         all);
  return all;
}

constexpr std::uint64_t baseline_stream = std::uint64_t{3} << 61;  // next to those of schedule/pattern.cpp

}  // namespace

std::vector<SlowConnection> suspected_connections(cluster::Cluster& cluster, int size_index,
                                                  std::span<const RankTimes> own, std::size_t count) {
  if (count == 0) return {};
  const Candidates of_rank = own_list(static_cast<std::uint32_t>(cluster.rank()), own);
  Candidates chosen = slowest_of_all(cluster, fastest_of(of_rank), count / 2);
  for (const Candidate& one : slowest_of_all(cluster, of_rank, count)) {
    const auto known = std::ranges::find_if(chosen, [&](const Candidate& other) {
      return std::minmax(one.pair.from, one.pair.to) == std::minmax(other.pair.from, other.pair.to);
    });
    if (known != chosen.end()) {
      *known = one;  // as slow as it was seen
    } else if (chosen.size() < count) {
      chosen.push_back(one);
    }
  }
  std::ranges::sort(chosen, comes_first);
  std::vector<SlowConnection> connections;
  for (const Candidate& seen : chosen) {
    SlowConnection& connection = connections.emplace_back();
    connection.size_index = size_index;
    connection.number = seen.number;
    connection.from = static_cast<std::int32_t>(seen.pair.from);
    connection.to = static_cast<std::int32_t>(seen.pair.to);
    connection.time_ns = seen.pair.time_ns;
  }
  return connections;
}

std::vector<AlonePair> draw_baseline_pairs(const schedule::Pattern& pattern, std::uint32_t num, std::uint64_t seed,
                                           std::uint64_t index) {
  if (num == 0) return {};
  std::vector<std::int32_t> lower;  // of each pair the lower rank
  lower.reserve(pattern.send_to.size() / 2);
  for (std::size_t rank = 0; rank < pattern.send_to.size(); ++rank) {
    const auto own = static_cast<std::int32_t>(rank);
    if (pattern.send_to[rank] > own) lower.push_back(own);
  }
  Random random(seed, baseline_stream + index);
  std::vector<AlonePair> pairs;
  const std::size_t wanted = std::min<std::size_t>(num, lower.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    std::swap(lower[i], lower[i + random.below(lower.size() - i)]);
    pairs.push_back({lower[i], pattern.send_to[static_cast<std::size_t>(lower[i])]});
  }
  return pairs;
}

}  // namespace leadline::bench::bisection
