// SPDX-License-Identifier: Apache-2.0
// Ranks and cores of every host, added up over the tree: one entry a host, the cores of its ranks united.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "cluster/bytes.hpp"
#include "cluster/cpu_list.hpp"
#include "cluster/rank_placement.hpp"

namespace leadline::cluster {
namespace {

struct HostShare {
  std::uint32_t num_ranks = 0;
  std::uint32_t quota = 0;    ///< cores that the tightest control group leaves
  bool are_all_equal = true;  ///< all ranks so far may run on the same cores
  CpuList cpus;
};

using Shares = std::map<std::uint32_t, HostShare>;

std::string packed(const Shares& shares) {
  std::string bytes;
  for (const auto& [host, share] : shares) {
    append(bytes, host);
    append(bytes, share.num_ranks);
    append(bytes, share.quota);
    append(bytes, static_cast<std::uint8_t>(share.are_all_equal));
    append_text(bytes, share.cpus.text());
  }
  return bytes;
}

void add(Shares& shares, std::string_view bytes) {
  Reader reader(bytes);
  while (!reader.at_end()) {
    const auto host = reader.number<std::uint32_t>();
    HostShare more;
    more.num_ranks = reader.number<std::uint32_t>();
    more.quota = reader.number<std::uint32_t>();
    more.are_all_equal = reader.number<std::uint8_t>() != 0;
    more.cpus = CpuList(reader.text());
    const auto [entry, is_new] = shares.try_emplace(host);
    HostShare& share = entry->second;
    share.are_all_equal = more.are_all_equal && (is_new || (share.are_all_equal && share.cpus == more.cpus));
    share.quota = is_new ? more.quota : std::min(share.quota, more.quota);
    share.num_ranks += more.num_ranks;
    share.cpus.add(more.cpus);
  }
}

}  // namespace

CoreShare core_share(Cluster& cluster) {
  Shares own;
  const std::uint32_t own_host = cluster.host_of()[static_cast<std::size_t>(cluster.rank())];
  HostShare& mine = own[own_host];
  mine.num_ranks = 1;
  mine.cpus = CpuList::of_this_thread();
  // A quota is taken for one that all ranks of the host share, which is how a container or a job has it.
  const int num_usable = usable_cores();
  mine.quota = num_usable < mine.cpus.count() ? static_cast<std::uint32_t>(num_usable) : UINT32_MAX;

  const std::string all = cluster.all_reduce(packed(own), [](const std::string& left, std::string_view right) {
    Shares both;
    add(both, left);
    add(both, right);
    return packed(both);
  });
  Shares shares;
  add(shares, all);
  CoreShare worst;
  for (const auto& [host, share] : shares) {
    const auto num_bound = static_cast<std::uint32_t>(std::max(1, share.cpus.count()));
    const std::uint32_t num_cores = std::min(num_bound, share.quota);
    const double ratio = static_cast<double>(share.num_ranks) / num_cores;
    if (share.are_all_equal && share.num_ranks > 1 && num_bound > 1) worst.is_unbound = true;
    if (ratio <= worst.ranks_per_core_max) continue;
    worst.ranks_per_core_max = ratio;
    worst.host_index = static_cast<int>(host);
    worst.num_ranks = static_cast<int>(share.num_ranks);
    worst.num_cores = static_cast<int>(num_cores);
  }
  return worst;
}

}  // namespace leadline::cluster
