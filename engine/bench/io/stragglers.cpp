// SPDX-License-Identifier: Apache-2.0
// Medians of rates and of times, and who lies far from them.
#include "bench/io/stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "stats/summary.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::size_t fewest_ranks = 4;
constexpr double far_in_deviations = 3.5;  // Iglewicz and Hoaglin 1993
constexpr double deviation_per_mad = 1.4826;

double rate_of(const JudgedRank& rank) { return 1e9 * static_cast<double>(rank.bytes) / rank.io_ns; }

/// Of value(rank), over all ranks.
template <class Value>
double median_of(const std::vector<JudgedRank>& ranks, const Value& value) {
  std::vector<double> values;
  values.reserve(ranks.size());
  for (const JudgedRank& rank : ranks) values.push_back(value(rank));
  std::sort(values.begin(), values.end());
  return stats::quantile_of_sorted(values, 0.5);
}

bool is_io_time(IoTime time, SyncTiming sync) {
  if (time == IoTime::fill || time == IoTime::verify) return false;
  return time != IoTime::sync || sync == SyncTiming::inside;
}

std::array<double, num_io_times> median_times(const std::vector<JudgedRank>& ranks) {
  std::array<double, num_io_times> medians{};
  for (std::size_t i = 0; i < num_io_times; ++i) {
    medians[i] = median_of(ranks, [i](const JudgedRank& rank) { return rank.times_ns[i]; });
  }
  return medians;
}

IoTime longest_beyond(const std::array<double, num_io_times>& usual_ns, const JudgedRank& rank, SyncTiming sync) {
  IoTime longest = IoTime::call;
  double most_ns = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < num_io_times; ++i) {
    const double beyond_ns = rank.times_ns[i] - usual_ns[i];
    if (!is_io_time(static_cast<IoTime>(i), sync) || beyond_ns <= most_ns) continue;
    longest = static_cast<IoTime>(i);
    most_ns = beyond_ns;
  }
  return longest;
}

}  // namespace

std::vector<Straggler> find_stragglers(const std::vector<JudgedRank>& ranks, const IoRequest& request,
                                       const std::vector<std::string>& files) {
  if (ranks.size() < fewest_ranks) return {};
  const double median = median_of(ranks, rate_of);
  const auto below = [&](const JudgedRank& rank) { return std::log(median / rate_of(rank)); };
  const double mad = median_of(ranks, [&](const JudgedRank& rank) { return std::abs(below(rank)); });
  const double far = far_in_deviations * deviation_per_mad * mad;

  std::vector<const JudgedRank*> slow;
  for (const JudgedRank& rank : ranks) {
    if (rate_of(rank) < (1 - request.threshold) * median && below(rank) > far) slow.push_back(&rank);
  }
  std::sort(slow.begin(), slow.end(), [](const JudgedRank* a, const JudgedRank* b) {
    return std::pair(rate_of(*a), a->rank) < std::pair(rate_of(*b), b->rank);
  });
  if (slow.size() > num_stragglers_named) slow.resize(num_stragglers_named);

  std::vector<Straggler> stragglers;
  if (slow.empty()) return stragglers;
  const std::array<double, num_io_times> usual_ns = median_times(ranks);
  for (const JudgedRank* rank : slow) {
    Straggler& straggler = stragglers.emplace_back();
    straggler.rank = rank->rank;
    straggler.host = rank->host;
    if (const auto file = static_cast<std::size_t>(rank->file); rank->file >= 0 && file < files.size()) {
      straggler.file = files[file];
    }
    straggler.bytes_per_s = rate_of(*rank);
    straggler.relative = straggler.bytes_per_s / median;
    straggler.mostly = longest_beyond(usual_ns, *rank, request.sync);
  }
  return stragglers;
}

}  // namespace leadline::bench::io
