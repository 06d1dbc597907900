// SPDX-License-Identifier: Apache-2.0
// Exact quantiles of numbers that are spread over all ranks: a search on counts, done together for all that is wanted.
#include "bench/link/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "stats/summary.hpp"

namespace leadline::bench::link {
namespace {

constexpr std::size_t num_probes = 15;  // cut an interval into 16 parts a reduction: four bits of the answer
constexpr std::array quantiles{0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99};

using Numbers = std::vector<std::uint64_t>;

Numbers sum_over_ranks(cluster::Cluster& cluster, const Numbers& own) {
  const auto add = [](std::string left, std::string_view right) {
    for (std::size_t at = 0; at < left.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, left.data() + at, sizeof a);
      std::memcpy(&b, right.data() + at, sizeof b);
      a += b;
      std::memcpy(left.data() + at, &a, sizeof a);
    }
    return left;
  };
  std::string text(own.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(text.data(), own.data(), text.size());
  const std::string total = cluster.all_reduce(std::move(text), add);
  Numbers sum(own.size());
  std::memcpy(sum.data(), total.data(), total.size());
  return sum;
}

struct Moments {
  double min = std::numeric_limits<double>::infinity(), max = 0, sum = 0;
  std::uint64_t count = 0;
};
using ClassMoments = std::array<Moments, 2>;  // same host, between hosts

Moments merged(const Moments& a, const Moments& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max), a.sum + b.sum, a.count + b.count};
}

Moments moments_of(const std::vector<double>& sorted) {
  Moments moments;
  moments.count = sorted.size();
  if (sorted.empty()) return moments;
  moments.min = sorted.front();
  moments.max = sorted.back();
  for (const double value : sorted) moments.sum += value;
  return moments;
}

ClassMoments moments_over_ranks(cluster::Cluster& cluster, const ClassMoments& own) {
  const auto combine = [](std::string left, std::string_view right) {
    ClassMoments a, b;
    std::memcpy(&a, left.data(), sizeof a);
    std::memcpy(&b, right.data(), sizeof b);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = merged(a[i], b[i]);
    std::memcpy(left.data(), &a, sizeof a);
    return left;
  };
  std::string text(sizeof own, '\0');
  std::memcpy(text.data(), &own, sizeof own);
  const std::string total = cluster.all_reduce(std::move(text), combine);
  ClassMoments moments;
  std::memcpy(&moments, total.data(), sizeof moments);
  return moments;
}

enum class Class : std::uint8_t { same_host, between_hosts, all };

/// One order statistic under search: it lies in (low, high], as bit patterns.
struct Search {
  Class of = Class::all;
  std::uint64_t index = 0;  // 0-based order statistic
  std::uint64_t low = 0, high = 0;

  std::uint64_t probe(std::size_t i) const {
    const std::uint64_t width = high - low;
    return low + width / (num_probes + 1) * (i + 1) + width % (num_probes + 1) * (i + 1) / (num_probes + 1);
  }
  double value() const { return std::bit_cast<double>(high); }
};

std::uint64_t count_up_to(const std::vector<double>& sorted, double bound) {
  return static_cast<std::uint64_t>(std::upper_bound(sorted.begin(), sorted.end(), bound) - sorted.begin());
}

std::uint64_t count_up_to(const OwnMedians& own, Class of, double bound) {
  switch (of) {
    case Class::same_host:
      return count_up_to(own.same_host, bound);
    case Class::between_hosts:
      return count_up_to(own.between_hosts, bound);
    case Class::all:
      break;
  }
  return count_up_to(own.same_host, bound) + count_up_to(own.between_hosts, bound);
}

void run(cluster::Cluster& cluster, const OwnMedians& own, std::vector<Search>& searches) {
  const auto is_open = [](const Search& search) { return search.high - search.low > 1; };
  while (std::any_of(searches.begin(), searches.end(), is_open)) {
    Numbers counts;
    for (const Search& search : searches) {
      for (std::size_t i = 0; i < num_probes; ++i) {
        counts.push_back(count_up_to(own, search.of, std::bit_cast<double>(search.probe(i))));
      }
    }
    counts = sum_over_ranks(cluster, counts);
    for (std::size_t s = 0; s < searches.size(); ++s) {
      const Search before = searches[s];
      for (std::size_t i = 0; i < num_probes; ++i) {
        if (counts[s * num_probes + i] > before.index) {
          searches[s].high = before.probe(i);
          break;
        }
        searches[s].low = before.probe(i);
      }
    }
  }
}

/// The order statistics that a summary is made of, appended to `searches` in a fixed order.
void ask_for(Class of, const Moments& moments, std::vector<Search>& searches) {
  const auto below = std::bit_cast<std::uint64_t>(moments.min) - 1;
  const auto top = std::bit_cast<std::uint64_t>(moments.max);
  const auto ask = [&](std::uint64_t index) { searches.push_back({of, index, below, top}); };
  for (const double q : quantiles) {
    const stats::QuantilePosition position = stats::quantile_position(moments.count, q);
    ask(position.low);
    ask(position.high);
  }
  const stats::OrderInterval interval = stats::median_interval(moments.count);
  ask(interval.low);
  ask(interval.high);
}

constexpr std::size_t searches_per_class = 2 * quantiles.size() + 2;

PairSummary summary_of(const Moments& moments, std::span<const Search> found) {
  PairSummary summary;
  summary.num_pairs = moments.count;
  summary.time_ns_min = moments.min;
  summary.time_ns_max = moments.max;
  summary.time_ns_mean = moments.sum / static_cast<double>(moments.count);
  std::array<double, quantiles.size()> value{};
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    const double low = found[2 * i].value(), high = found[2 * i + 1].value();
    value[i] = low + (high - low) * stats::quantile_position(moments.count, quantiles[i]).fraction;
  }
  summary.time_ns_p01 = value[0];
  summary.time_ns_p05 = value[1];
  summary.time_ns_p25 = value[2];
  summary.time_ns_median = value[3];
  summary.time_ns_p75 = value[4];
  summary.time_ns_p95 = value[5];
  summary.time_ns_p99 = value[6];
  summary.median_interval_low_ns = found[2 * quantiles.size()].value();
  summary.median_interval_high_ns = found[2 * quantiles.size() + 1].value();
  return summary;
}

PairSummary no_pairs() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  PairSummary summary;
  for (double* member :
       {&summary.time_ns_min, &summary.time_ns_mean, &summary.time_ns_max, &summary.time_ns_p01, &summary.time_ns_p05,
        &summary.time_ns_p25, &summary.time_ns_median, &summary.time_ns_p75, &summary.time_ns_p95, &summary.time_ns_p99,
        &summary.median_interval_low_ns, &summary.median_interval_high_ns}) {
    *member = nan;
  }
  return summary;
}

}  // namespace

ClassSummaries summarize_pairs(cluster::Cluster& cluster, const OwnMedians& own) {
  const ClassMoments by_class = moments_over_ranks(cluster, {moments_of(own.same_host), moments_of(own.between_hosts)});
  const std::array<Moments, 3> moments{by_class[0], by_class[1], merged(by_class[0], by_class[1])};

  std::vector<Search> searches;
  for (const Class of : {Class::same_host, Class::between_hosts, Class::all}) {
    const Moments& its = moments[static_cast<std::size_t>(of)];
    if (its.count > 0) ask_for(of, its, searches);
  }
  run(cluster, own, searches);

  std::array<PairSummary, 3> summaries{no_pairs(), no_pairs(), no_pairs()};
  std::span<const Search> rest = searches;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    if (moments[i].count == 0) continue;
    summaries[i] = summary_of(moments[i], rest.first(searches_per_class));
    rest = rest.subspan(searches_per_class);
  }
  return {summaries[2], summaries[0], summaries[1]};
}

}  // namespace leadline::bench::link
