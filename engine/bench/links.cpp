// SPDX-License-Identifier: Apache-2.0
// A hash of both ranks orders pairs; the ranks themselves decide between equal ones.
#include "bench/links.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "core/random.hpp"
#include "kernel/barrier.hpp"

namespace leadline::bench {

std::vector<std::int32_t> in_hashed_order(std::span<const std::int32_t> partners, int rank) {
  struct Pair {
    std::uint64_t hash = 0;
    std::int32_t low = 0, high = 0;

    bool operator<(const Pair& other) const {
      return std::tie(hash, low, high) < std::tie(other.hash, other.low, other.high);
    }
    bool operator==(const Pair& other) const { return low == other.low && high == other.high; }
  };
  std::vector<Pair> pairs;
  for (const std::int32_t partner : partners) {
    Pair pair{0, std::min(rank, partner), std::max(rank, partner)};
    const auto both = static_cast<std::uint64_t>(pair.low) << 32 | static_cast<std::uint64_t>(pair.high);
    pair.hash = mix64(both + splitmix64_increment);
    pairs.push_back(pair);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<std::int32_t> ordered;
  for (const Pair& pair : pairs) ordered.push_back(pair.low == rank ? pair.high : pair.low);
  return ordered;
}

AwaitedRanks::Ranks awaited_in(std::span<const kernel::NeighbourChannel> channels, const cluster::Cluster& cluster) {
  AwaitedRanks::Ranks awaited;
  std::vector<std::int32_t>& partners = awaited.partners;
  for (const kernel::NeighbourChannel& channel : channels) partners.push_back(channel.partner);
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  awaited.in_barrier = kernel::barrier_partners(cluster.rank(), cluster.size());
  return awaited;
}

void open_links(cluster::Cluster& cluster, transport::Transport& transport, std::span<const std::int32_t> partners,
                double timeout_s) {
  const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(timeout_s));
  for (const std::int32_t partner : partners) {
    const InTransport in_transport(cluster.progress_counter(), partner);
    try {
      transport.connect(partner, Deadline::after(timeout));
    } catch (const cluster::ConnectionLost&) {
      throw;
    } catch (const Error& error) {
      if (error.status() != ExitStatus::run_failed) throw;
      throw cluster::ConnectionLost(partner, error.problem(), error.why(), error.hint());
    }
  }
}

}  // namespace leadline::bench
