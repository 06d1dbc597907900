// SPDX-License-Identifier: Apache-2.0
// Reductions element by element, and agreement on errors.
#include "bench/reductions.hpp"

#include <algorithm>
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

}  // namespace leadline::bench
