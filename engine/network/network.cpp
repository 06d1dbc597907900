// SPDX-License-Identifier: Apache-2.0
// Distances of hosts, the part of a network that a run uses, and a network as bytes.
#include "network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "network/lines.hpp"
#include "network/packing.hpp"

namespace leadline::network {
namespace {

std::size_t hops_between(const Network& network, std::size_t group, std::size_t other) {
  return network.hops[group * network.levels.front().names.size() + other];
}

/// By name; `nobody` where several have it.
using HostIndex = std::unordered_map<std::string_view, std::uint32_t>;

/// Up to the first dot; empty for addresses, which have nothing like it.
std::string_view short_name(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('.'));
  const bool is_number = first.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number && first.size() < name.size() ? std::string_view{} : first;
}

HostIndex index_of_short_names(const std::vector<std::string>& names) {
  HostIndex index;
  for (std::uint32_t host = 0; host < names.size(); ++host) {
    const std::string_view name = short_name(names[host]);
    if (name.empty()) continue;
    const auto [place, is_new] = index.try_emplace(name, host);
    if (!is_new) place->second = nobody;
  }
  return index;
}

[[noreturn]] void refuse_hosts(const Network& network, const std::string& why) {
  refuse_word(network.source, why, "Name a network that has all hosts of the run, by the names that it has for them");
}

[[noreturn]] void refuse_missing(const Network& network, const std::vector<std::string>& names,
                                 std::span<const std::uint32_t> chosen) {
  constexpr int num_shown = 3;
  std::string first;
  std::size_t num_missing = 0;
  for (std::size_t host = 0; host < names.size(); ++host) {
    if (chosen[host] != nobody) continue;
    if (++num_missing <= num_shown) first += (first.empty() ? "" : ", ") + names[host];
  }
  if (num_missing > num_shown) first += fmt::format(" and {} more", num_missing - num_shown);
  refuse_hosts(network, fmt::format("{} of the run's {} hosts are not in it: {}", num_missing, names.size(), first));
}

void expect_distinct(const Network& network, const std::vector<std::string>& names,
                     std::span<const std::uint32_t> chosen) {
  std::vector<std::uint32_t> first_of(network.hosts.size(), nobody);
  for (std::uint32_t host = 0; host < names.size(); ++host) {
    std::uint32_t& first = first_of[chosen[host]];
    if (first != nobody) {
      refuse_hosts(network, fmt::format("the run's {} and {} would both be its {}", names[first], names[host],
                                        network.hosts[chosen[host]]));
    }
    first = host;
  }
}

/// For each name a host of the network.
std::vector<std::uint32_t> find_hosts(const Network& network, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> chosen(names.size(), nobody);
  const bool has_names = std::ranges::none_of(network.hosts, &std::string::empty);
  if (!has_names) {
    if (names.size() > network.hosts.size()) {
      refuse_word(network.source, fmt::format("it has {} hosts, the run {}", network.hosts.size(), names.size()),
                  "Name a larger network");
    }
    std::iota(chosen.begin(), chosen.end(), 0U);
    return chosen;
  }
  HostIndex by_name;
  for (std::uint32_t host = 0; host < network.hosts.size(); ++host) by_name.emplace(network.hosts[host], host);
  const HostIndex short_in_run = index_of_short_names(names), short_in_network = index_of_short_names(network.hosts);
  for (std::uint32_t host = 0; host < names.size(); ++host) {
    if (const auto found = by_name.find(names[host]); found != by_name.end()) {
      chosen[host] = found->second;
      continue;
    }
    const auto in_run = short_in_run.find(short_name(names[host]));
    const auto in_network = short_in_network.find(short_name(names[host]));
    if (in_run != short_in_run.end() && in_run->second == host && in_network != short_in_network.end())
      chosen[host] = in_network->second;
  }
  if (std::ranges::find(chosen, nobody) != chosen.end()) refuse_missing(network, names, chosen);
  expect_distinct(network, names, chosen);
  return chosen;
}

/// The level of the chosen hosts alone; `kept`: for each group that is left what it was.
Level reduced(const Level& level, std::span<const std::uint32_t> chosen, std::vector<std::uint32_t>& kept) {
  std::vector<std::uint32_t> now(level.names.size(), nobody);
  for (const std::uint32_t host : chosen) now[level.group_of[host]] = 0;
  Level left{level.kind, {}, {}};
  kept.clear();
  for (std::uint32_t group = 0; group < now.size(); ++group) {
    if (now[group] == nobody) continue;
    now[group] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(group);
    left.names.push_back(level.names[group]);
  }
  left.group_of.reserve(chosen.size());
  for (const std::uint32_t host : chosen) left.group_of.push_back(now[level.group_of[host]]);
  return left;
}

}  // namespace

std::string plural_of(const std::string& kind) {
  const bool hisses = kind.ends_with("ch") || kind.ends_with("sh") || kind.ends_with('s') || kind.ends_with('x');
  return kind + (hisses ? "es" : "s");
}

std::size_t distance(const Network& network, std::uint32_t host, std::uint32_t other) {
  if (!network.hops.empty()) {
    const auto& group_of = network.levels.front().group_of;
    return hops_between(network, group_of[host], group_of[other]);
  }
  const auto shared = std::ranges::find_if(
      network.levels, [&](const Level& level) { return level.group_of[host] == level.group_of[other]; });
  return static_cast<std::size_t>(shared - network.levels.begin());
}

std::size_t num_distances(const Network& network) {
  if (!network.hops.empty()) return std::size_t{1} + *std::ranges::max_element(network.hops);
  // A level with one group includes all hosts.
  const auto whole = std::ranges::find_if(network.levels, [](const Level& level) { return level.names.size() <= 1; });
  return static_cast<std::size_t>(whole - network.levels.begin()) + 1;
}

std::string name_of_distance(const Network& network, std::size_t distance) {
  if (network.levels.empty()) return "between hosts";
  if (distance == 0) return "same " + network.levels.front().kind;
  if (!network.hops.empty()) return fmt::format("{} hop{}", distance, distance == 1 ? "" : "s");
  if (distance < network.levels.size()) return "same " + network.levels[distance].kind;
  return "different " + plural_of(network.levels.back().kind);
}

std::string packed(const Network& network) {
  std::string text;
  put_list(text, network.source);
  put(text, network.levels.size());
  for (const Level& level : network.levels) {
    put_list(text, level.kind);
    put(text, level.names.size());
    put_list(text, level.group_of);
  }
  put_list(text, network.hops);
  return text;
}

Network unpacked(std::string_view text) {
  Network network;
  take_list(text, network.source);
  network.levels.resize(take(text));
  for (Level& level : network.levels) {
    take_list(text, level.kind);
    level.names.resize(take(text));
    take_list(text, level.group_of);
  }
  take_list(text, network.hops);
  return network;
}

Network for_hosts(const Network& network, const std::vector<std::string>& names) {
  const std::vector<std::uint32_t> chosen = find_hosts(network, names);
  Network own;
  own.source = network.source;
  own.hosts = names;
  std::vector<std::uint32_t> kept, innermost;
  for (const Level& level : network.levels) {
    own.levels.push_back(reduced(level, chosen, kept));
    if (own.levels.size() == 1) innermost = kept;
  }
  if (network.hops.empty()) return own;
  const std::size_t stride = network.levels.front().names.size();
  own.hops.reserve(innermost.size() * innermost.size());
  for (const std::uint32_t group : innermost) {
    for (const std::uint32_t other : innermost) own.hops.push_back(network.hops[group * stride + other]);
  }
  return own;
}

}  // namespace leadline::network
