// SPDX-License-Identifier: Apache-2.0
// Ranks and hosts that are slow in nearly all random patterns, whoever their partners are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/bisection_result.hpp"

namespace leadline::bench::bisection {

/// One rank's connections over all sizes, against the median connection of each.
class SlowComponentSearch {
 public:
  static constexpr double min_slow_share = 0.9;        ///< of its connections that must be slow
  static constexpr std::uint64_t min_connections = 5;  ///< below that nothing is decided

  /// A connection is slow below this share of the median connection.
  explicit SlowComponentSearch(double slow_share) : slow_share_(slow_share) {}

  /// Local: this rank's connections of one size. A time counts once, for what it sent and what it received in it.
  void add(std::span<const double> times_ns, double median_time_ns);

  /// Collective; the same on all ranks: hosts first, then ranks of other hosts, slowest first. A host's median is that
  /// of its ranks' medians. O(ranks) of memory on the root.
  std::vector<SlowComponent> find(cluster::Cluster& cluster, std::span<const std::uint32_t> host_of,
                                  const std::string& own_host_name) const;

 private:
  std::vector<SlowComponent> find_at_root(cluster::Cluster& cluster, std::span<const std::uint32_t> host_of,
                                          const std::string& own_host_name) const;

  double slow_share_;
  std::uint64_t num_slow_ = 0;
  std::vector<double> relative_;
};

}  // namespace leadline::bench::bisection
