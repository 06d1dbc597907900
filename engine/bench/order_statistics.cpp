// SPDX-License-Identifier: Apache-2.0
// A search on counts, done together for all that is wanted.
#include "bench/order_statistics.hpp"

#include <algorithm>
#include <bit>

#include "bench/reductions.hpp"

namespace leadline::bench {
namespace {

constexpr std::size_t num_probes = 15;  // cut an interval into 16 parts a reduction: four bits of the answer

/// One order statistic under search: it lies in (low, high], as bit patterns.
struct Search {
  std::size_t group = 0;
  std::uint64_t index = 0;
  std::uint64_t low = 0, high = 0;

  explicit Search(const OrderStatistic& wanted)
      : group(wanted.group),
        index(wanted.index),
        low(std::bit_cast<std::uint64_t>(wanted.min) - 1),
        high(std::bit_cast<std::uint64_t>(wanted.max)) {}

  bool is_open() const { return high - low > 1; }
  std::uint64_t probe(std::size_t i) const {
    const std::uint64_t width = high - low;
    return low + width / (num_probes + 1) * (i + 1) + width % (num_probes + 1) * (i + 1) / (num_probes + 1);
  }
  void narrow(std::span<const std::uint64_t> counts) {
    const Search before = *this;
    for (std::size_t i = 0; i < num_probes; ++i) {
      if (counts[i] > index) {
        high = before.probe(i);
        break;
      }
      low = before.probe(i);
    }
  }
};

}  // namespace

std::uint64_t count_up_to(std::span<const double> sorted, double bound) {
  return static_cast<std::uint64_t>(std::upper_bound(sorted.begin(), sorted.end(), bound) - sorted.begin());
}

std::vector<double> order_statistics(cluster::Cluster& cluster, std::span<const OrderStatistic> wanted,
                                     const CountUpTo& count_up_to) {
  std::vector<Search> searches(wanted.begin(), wanted.end());
  std::vector<std::uint64_t> counts(num_probes * searches.size());
  while (std::any_of(searches.begin(), searches.end(), [](const Search& search) { return search.is_open(); })) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Search& search = searches[i / num_probes];
      counts[i] = count_up_to(search.group, std::bit_cast<double>(search.probe(i % num_probes)));
    }
    sum_over_ranks(cluster, counts);
    for (std::size_t s = 0; s < searches.size(); ++s) {
      searches[s].narrow(std::span(counts).subspan(s * num_probes, num_probes));
    }
  }
  std::vector<double> found;
  found.reserve(searches.size());
  for (const Search& search : searches) found.push_back(std::bit_cast<double>(search.high));
  return found;
}

}  // namespace leadline::bench
