// SPDX-License-Identifier: Apache-2.0
// Reductions element by element, order statistics by intervals that narrow, and agreement on errors.
#include "bench/reductions.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <tuple>

namespace leadline::bench {
namespace {

constexpr std::size_t values_a_piece = 8192;

template <class T, class Merge>
void reduce_each(cluster::Cluster& cluster, std::span<T> values, const Merge& merge) {
  const auto each = [&](std::string left, std::string_view right) {
    for (std::size_t at = 0; at < left.size(); at += sizeof(T)) {
      T a{}, b{};
      std::memcpy(&a, left.data() + at, sizeof a);
      std::memcpy(&b, right.data() + at, sizeof b);
      a = merge(a, b);
      std::memcpy(left.data() + at, &a, sizeof a);
    }
    return left;
  };
  for (std::size_t begin = 0; begin < values.size(); begin += values_a_piece) {
    const std::span<T> piece = values.subspan(begin, std::min(values_a_piece, values.size() - begin));
    std::string text(reinterpret_cast<const char*>(piece.data()), piece.size_bytes());
    text = cluster.all_reduce(std::move(text), each);
    std::memcpy(piece.data(), text.data(), piece.size_bytes());
  }
}

struct Finder {
  std::uint64_t exchange = std::numeric_limits<std::uint64_t>::max();
  std::int64_t rank = -1;

  bool operator<(const Finder& other) const { return std::tie(exchange, rank) < std::tie(other.exchange, other.rank); }
};

}  // namespace

void max_over_ranks(cluster::Cluster& cluster, std::span<double> values) {
  reduce_each(cluster, values, [](double a, double b) { return std::max(a, b); });
}

void sum_over_ranks(cluster::Cluster& cluster, std::span<double> values) {
  reduce_each(cluster, values, std::plus<>{});
}

void sum_over_ranks(cluster::Cluster& cluster, std::span<std::uint64_t> values) {
  reduce_each(cluster, values, std::plus<>{});
}

void agree(cluster::Cluster& cluster, const Error* own) {
  try {
    cluster.agree(own);
  } catch (const Error& agreed) {
    throw AgreedError(agreed);
  }
}

void write_and_agree(cluster::Cluster& cluster, const std::function<void()>& write,
                     const std::optional<WrongByte>& own) {
  cluster::repeat_for_new_root(cluster, [&](int /*root*/) {
    std::optional<Error> error;
    try {
      write();
    } catch (const AgreedError&) {
      throw;
    } catch (const Error& cannot_write) {
      error = cannot_write;
    }
    const Finder first = merged_over_ranks(cluster, own ? Finder{own->exchange, cluster.rank()} : Finder{},
                                           [](const Finder& a, const Finder& b) { return std::min(a, b); });
    if (first.rank >= 0) error = std::nullopt;
    if (first.rank == cluster.rank()) error = own->error;
    agree(cluster, error ? &*error : nullptr);
  });
}

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
