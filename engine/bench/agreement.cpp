// SPDX-License-Identifier: Apache-2.0
// Two small reductions: which wrong byte is the earliest, then the agreement itself.
#include "bench/agreement.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "bench/reductions.hpp"

namespace leadline::bench {
namespace {

struct Finder {
  std::uint64_t exchange = std::numeric_limits<std::uint64_t>::max();
  std::int64_t rank = -1;

  bool operator<(const Finder& other) const { return std::tie(exchange, rank) < std::tie(other.exchange, other.rank); }
};

}  // namespace

void agree(cluster::Cluster& cluster, const Error* own) {
  try {
    cluster.agree(own);
  } catch (const Error& agreed) {
    throw AgreedError(agreed);
  }
}

void write_and_agree(cluster::Cluster& cluster, const std::function<void()>& write,
                     const std::optional<WrongByte>& own) {
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
}

}  // namespace leadline::bench
