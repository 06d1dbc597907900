// SPDX-License-Identifier: Apache-2.0
// Classes of pairs from sockets, hosts and the network's distances.
#include "diagnosis/layout.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace leadline::diagnosis {

std::size_t num_ranks(const Layout& layout) { return layout.host_of.size(); }

std::int32_t rank_number(const Layout& layout, std::int32_t rank) {
  if (rank < 0 || layout.rank_numbers.empty()) return rank;
  return static_cast<std::int32_t>(layout.rank_numbers[static_cast<std::size_t>(rank)]);
}

std::int32_t host_number(const Layout& layout, std::int32_t host) {
  if (host < 0 || layout.host_numbers.empty()) return host;
  return static_cast<std::int32_t>(layout.host_numbers[static_cast<std::size_t>(host)]);
}

Members members_of(std::span<const std::uint32_t> group_of) {
  Members found;
  const std::uint32_t num_groups = group_of.empty() ? 0 : *std::max_element(group_of.begin(), group_of.end()) + 1;
  found.begin.assign(num_groups + 1, 0);
  for (const std::uint32_t group : group_of) ++found.begin[group + 1];
  std::partial_sum(found.begin.begin(), found.begin.end(), found.begin.begin());
  found.members.resize(group_of.size());
  found.slot_of.resize(group_of.size());
  std::vector<std::uint32_t> next(found.begin.begin(), found.begin.end() - 1);
  for (std::uint32_t member = 0; member < group_of.size(); ++member) {
    const std::uint32_t group = group_of[member];
    found.slot_of[member] = next[group] - found.begin[group];
    found.members[next[group]++] = member;
  }
  return found;
}

std::vector<std::uint32_t> groups_of_ranks(const Layout& layout, std::size_t level) {
  const std::vector<std::uint32_t>& group_of = layout.network.levels[level].group_of;
  std::vector<std::uint32_t> groups;
  groups.reserve(layout.host_of.size());
  for (const std::uint32_t host : layout.host_of) groups.push_back(group_of[host]);
  return groups;
}

PairClasses::PairClasses(const Layout& layout)
    : layout_(layout),
      num_(std::min(first_between + network::num_distances(layout.network), most_classes)),
      num_hosts_(layout.host_of.empty() ? 0 : *std::ranges::max_element(layout.host_of) + std::size_t{1}),
      knows_sockets_(!layout.socket_of.empty()) {}

std::uint8_t PairClasses::between(std::uint32_t host, std::uint32_t other) const {
  return static_cast<std::uint8_t>(std::min(first_between + network::distance(layout_.network, host, other), num_ - 1));
}

PairClasses::Parts PairClasses::parts_of(std::size_t pair_class) const {
  const auto& levels = layout_.network.levels;
  Parts parts{std::vector<std::uint32_t>(layout_.host_of.size(), 0), {}};
  parts.of_receiver = parts.of_sender;
  if (!layout_.network.hops.empty() || levels.empty() || is_inside(pair_class)) return parts;
  const std::size_t level = pair_class - first_between;
  const std::vector<std::uint32_t>& group_of = levels[level == 0 ? 0 : level - 1].group_of;
  const auto around = [&](std::uint32_t host) { return level < levels.size() ? levels[level].group_of[host] : 0; };
  std::map<std::uint32_t, std::set<std::uint32_t>> groups_in;
  for (const std::uint32_t host : layout_.host_of) groups_in[around(host)].insert(group_of[host]);
  for (std::size_t rank = 0; rank < layout_.host_of.size(); ++rank) {
    const std::uint32_t host = layout_.host_of[rank];
    const std::set<std::uint32_t>& groups = groups_in[around(host)];
    // Of two groups all senders of one have receivers in the other.
    const bool are_two = groups.size() == 2;
    parts.of_sender[rank] = are_two ? group_of[host] : *groups.begin();
    parts.of_receiver[rank] = are_two ? *groups.begin() + *groups.rbegin() - group_of[host] : *groups.begin();
  }
  return parts;
}

std::uint8_t PairClasses::of(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t host = layout_.host_of[from], other = layout_.host_of[to];
  if (host != other) return between(host, other);
  const bool is_one_socket = !knows_sockets_ || layout_.socket_of[from] == layout_.socket_of[to];
  return static_cast<std::uint8_t>(is_one_socket ? inside_socket : inside_host);
}

void PairClasses::of_row(std::uint32_t from, std::span<std::uint8_t> classes) const {
  const std::uint32_t host = layout_.host_of[from];
  // Neighbours in the row are mostly on one host, whose class is asked for once.
  std::uint32_t last_host = host;
  std::uint8_t last_class = 0;
  for (std::uint32_t to = 0; to < classes.size(); ++to) {
    const std::uint32_t other = layout_.host_of[to];
    if (other == host) {
      classes[to] = of(from, to);
    } else {
      if (other != last_host) last_class = between(host, other);
      last_host = other;
      classes[to] = last_class;
    }
  }
}

void PairClasses::of_partners(std::uint32_t from, std::span<const std::uint32_t> partners,
                              std::span<std::uint8_t> classes) const {
  std::transform(partners.begin(), partners.end(), classes.begin(), [&](std::uint32_t to) { return of(from, to); });
}

std::string PairClasses::name(std::size_t pair_class) const {
  if (pair_class == inside_socket)
    return !knows_sockets_ ? "same host" : layout_.are_sockets_learnt ? "same host, near" : "same socket";
  if (pair_class == inside_host) return layout_.are_sockets_learnt ? "same host, far" : "same host, other socket";
  if (num_between() == 1) return "between hosts";
  return network::name_of_distance(layout_.network, pair_class - first_between);
}

bool PairClasses::crosses(std::size_t pair_class, std::size_t level) const {
  return !is_inside(pair_class) && pair_class - first_between > level;
}

Setting::Setting(const Layout& of_layout)
    : layout(of_layout), classes(of_layout), hosts(members_of(of_layout.host_of)) {
  const network::Network& network = layout.network;
  if (!network.hops.empty() && network.levels.front().names.size() <= network::most_path_groups)
    paths = std::make_shared<network::PathShares>(network);
}

}  // namespace leadline::diagnosis
