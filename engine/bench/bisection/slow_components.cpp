// SPDX-License-Identifier: Apache-2.0
// Each rank counts its own; the root adds up the ranks of each host.
#include "bench/bisection/slow_components.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "cluster/bytes.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::bisection {
namespace {

/// The numbers of a rank; its host's name follows.
struct Own {
  std::uint64_t num_connections = 0, num_slow = 0;
  double relative_median = std::numeric_limits<double>::quiet_NaN();
};

struct HostNumbers {
  Own numbers;
  std::vector<double> medians;  ///< of its ranks
  std::string host;

  void add(const Own& rank) {
    numbers.num_connections += rank.num_connections;
    numbers.num_slow += rank.num_slow;
    if (rank.num_connections > 0) medians.push_back(rank.relative_median);
  }
};

bool is_slow(const Own& numbers) {
  return numbers.num_connections >= SlowComponentSearch::min_connections &&
         static_cast<double>(numbers.num_slow) >=
             SlowComponentSearch::min_slow_share * static_cast<double>(numbers.num_connections);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return stats::quantile_of_sorted(values, 0.5);
}

SlowComponent component_of(std::int32_t rank, const std::string& host, const Own& numbers) {
  return {rank, host, numbers.num_connections, numbers.num_slow, numbers.relative_median};
}

/// As they travel.
std::string packed(const std::vector<SlowComponent>& components) {
  std::string text;
  for (const SlowComponent& one : components) {
    const Own numbers{one.num_connections, one.num_slow, one.relative_median};
    cluster::append(text, static_cast<std::uint32_t>(one.rank));
    text.append(reinterpret_cast<const char*>(&numbers), sizeof numbers);
    cluster::append_text(text, one.host);
  }
  return text;
}

std::vector<SlowComponent> unpacked(std::string_view text) {
  std::vector<SlowComponent> components;
  for (cluster::Reader reader(text); !reader.at_end();) {
    const auto rank = static_cast<std::int32_t>(reader.number<std::uint32_t>());
    Own numbers;
    std::memcpy(&numbers, reader.text_of(sizeof numbers).data(), sizeof numbers);
    components.push_back(component_of(rank, reader.text(), numbers));
  }
  return components;
}

void sort_slowest_first(std::vector<SlowComponent>& components) {
  std::stable_sort(components.begin(), components.end(), [](const SlowComponent& a, const SlowComponent& b) {
    return a.relative_median < b.relative_median;
  });
}

}  // namespace

void SlowComponentSearch::add(std::span<const double> times_ns, double median_time_ns) {
  for (const double time_ns : times_ns) {
    relative_.push_back(median_time_ns / time_ns);
    if (relative_.back() < slow_share_) ++num_slow_;
  }
}

std::vector<SlowComponent> SlowComponentSearch::find(cluster::Cluster& cluster, std::span<const std::uint32_t> host_of,
                                                     const std::string& own_host_name) const {
  std::string text;
  cluster::repeat_for_new_root(
      cluster, [&](int /*root*/) { text = cluster.broadcast(packed(find_at_root(cluster, host_of, own_host_name))); });
  return unpacked(text);
}

/// Collective; the root's is the result.
std::vector<SlowComponent> SlowComponentSearch::find_at_root(cluster::Cluster& cluster,
                                                             std::span<const std::uint32_t> host_of,
                                                             const std::string& own_host_name) const {
  const Own own{relative_.size(), num_slow_, median_of(relative_)};
  std::string text(reinterpret_cast<const char*>(&own), sizeof own);
  text += own_host_name;

  std::vector<Own> ranks;
  std::map<std::uint32_t, HostNumbers> hosts;
  cluster.gather(text, [&](int rank, std::string_view packed) {
    ranks.resize(static_cast<std::size_t>(cluster.size()));  // of a root alone, which may be a new one
    Own& numbers = ranks[static_cast<std::size_t>(rank)];
    std::memcpy(&numbers, packed.data(), sizeof numbers);
    HostNumbers& host = hosts[host_of[static_cast<std::size_t>(rank)]];
    host.host = packed.substr(sizeof numbers);
    host.add(numbers);
  });

  std::vector<SlowComponent> slow_hosts, slow_ranks;
  for (auto& [index, host] : hosts) {
    host.numbers.relative_median = median_of(std::move(host.medians));
    if (is_slow(host.numbers)) slow_hosts.push_back(component_of(-1, host.host, host.numbers));
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!is_slow(ranks[rank])) continue;
    const HostNumbers& host = hosts.at(host_of[rank]);
    if (is_slow(host.numbers)) continue;
    slow_ranks.push_back(component_of(static_cast<std::int32_t>(rank), host.host, ranks[rank]));
  }
  sort_slowest_first(slow_hosts);
  sort_slowest_first(slow_ranks);
  slow_hosts.insert(slow_hosts.end(), slow_ranks.begin(), slow_ranks.end());
  return slow_hosts;
}

}  // namespace leadline::bench::bisection
