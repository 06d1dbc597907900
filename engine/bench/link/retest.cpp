// SPDX-License-Identifier: Apache-2.0
// The slowest pairs: found by merging short lists up the tree, then measured alone.
#include "bench/link/retest.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include "bench/link/tally.hpp"
#include "stats/slowest.hpp"

namespace leadline::bench::link {
namespace {

std::string packed(const stats::Slowest& slowest) {
  const std::vector<stats::TimedPair> pairs = slowest.sorted();
  std::string text(pairs.size() * sizeof(stats::TimedPair), '\0');
  if (!pairs.empty()) std::memcpy(text.data(), pairs.data(), text.size());
  return text;
}

std::vector<stats::TimedPair> unpacked(std::string_view text) {
  std::vector<stats::TimedPair> pairs(text.size() / sizeof(stats::TimedPair));
  if (!pairs.empty()) std::memcpy(pairs.data(), text.data(), text.size());
  return pairs;
}

stats::Slowest own_slowest(std::uint32_t rank, const PairRow& row, std::size_t count) {
  stats::Slowest slowest(count);
  for (std::uint32_t partner = 0; partner < row.count.size(); ++partner) {
    if (row.count[partner] != 0) slowest.add({rank, partner, row.time_ns_median[partner]});
  }
  return slowest;
}

}  // namespace

std::vector<SlowPair> slowest_pairs(cluster::Cluster& cluster, const PairRow& row, std::size_t count) {
  const auto merge = [count](const std::string& left, std::string_view right) {
    stats::Slowest slowest(count);
    slowest.merge(unpacked(left));
    slowest.merge(unpacked(right));
    return packed(slowest);
  };
  std::vector<SlowPair> pairs;
  if (count == 0) return pairs;
  const std::string own = packed(own_slowest(static_cast<std::uint32_t>(cluster.rank()), row, count));
  for (const stats::TimedPair& pair : unpacked(cluster.all_reduce(own, merge))) {
    pairs.push_back({pair.from, pair.to, pair.time_ns, 0});
  }
  return pairs;
}

void retest(cluster::Cluster& cluster, PairMeter& meter, const Slice& slice, std::vector<SlowPair>& pairs,
            Progress* progress) {
  for (SlowPair& pair : pairs) {
    const int from = static_cast<int>(pair.from), to = static_cast<int>(pair.to);
    Tally own;
    if (cluster.rank() == from) {
      meter.connect(to);
      own.add(meter.measure_one_way(to, kernel::Role::lead, slice.message_size_bytes).time_ns_median);
    } else if (cluster.rank() == to) {
      meter.connect(from);
      meter.measure_one_way(from, kernel::Role::follow, slice.message_size_bytes);
    }
    pair.retest_time_ns = close_round(cluster, own, std::nullopt).time_ns_max;
    if (progress != nullptr) progress->retest_done(pair);
  }
}

}  // namespace leadline::bench::link
