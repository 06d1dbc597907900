// SPDX-License-Identifier: Apache-2.0
// Hosts by rank, out of the ranks of each host.
#include "compat/times.hpp"

#include <charconv>
#include <map>

namespace leadline::compat {

std::vector<std::string> host_of_each_rank(const std::vector<HostRanks>& hosts) {
  std::map<int, std::string> by_rank;
  for (const auto& [host, ranks] : hosts) {
    const char* const end = ranks.data() + ranks.size();
    for (const char* at = ranks.data(); at < end; ++at) {
      int first = 0;
      at = std::from_chars(at, end, first).ptr;
      int last = first;
      if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
      for (int rank = first; rank <= last; ++rank) by_rank[rank] = host;
    }
  }
  std::vector<std::string> names;
  for (const auto& [rank, host] : by_rank) names.push_back(host);
  return names;
}

}  // namespace leadline::compat
