// SPDX-License-Identifier: Apache-2.0
// Reads lists of ranks like "0-3,8".
#include "output/host_of_rank.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <string_view>

namespace leadline::output {

HostsOfRanks::HostsOfRanks(const std::vector<HostRanks>& hosts) : has_several_(hosts.size() > 1) {
  for (const HostRanks& host : hosts) {
    const char* at = host.ranks.data();
    const char* const end = at + host.ranks.size();
    while (at < end) {
      std::int32_t first = 0, last = 0;
      at = std::from_chars(at, end, first).ptr;
      last = first;
      if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
      ranges_[first] = {last, host.host};
      ++at;  // the comma
    }
  }
}

std::string HostsOfRanks::of(std::int32_t rank) const {
  const auto behind = ranges_.upper_bound(rank);
  if (behind == ranges_.begin()) return "";
  const Ranks& range = std::prev(behind)->second;
  return rank <= range.last ? range.host : "";
}

std::string HostsOfRanks::with_host(std::int32_t rank) const {
  if (rank < 0) return "-";
  const std::string host = has_several_ ? of(rank) : "";
  return host.empty() ? std::to_string(rank) : fmt::format("{} ({})", rank, host);
}

}  // namespace leadline::output
