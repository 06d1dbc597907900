// SPDX-License-Identifier: Apache-2.0
// The network of a run as JSON, and back; the text is checked, since a result may come from anybody.
#include "network/stored_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "network/lines.hpp"

namespace leadline::network {
namespace {

constexpr std::size_t most_stored_levels = 64;

/// What files keep of a host's name (result::host_size): hosts that are one there cannot be told apart.
constexpr std::size_t stored_name_bytes = 64;

[[noreturn]] void fail_stored(const std::string& what) { throw JsonError("the stored network " + what); }

bool have_distinct_names(const std::vector<std::string>& hosts) {
  std::set<std::string_view> names;
  for (const std::string& host : hosts) names.insert(std::string_view(host).substr(0, stored_name_bytes));
  return names.size() == hosts.size();
}

Json json_of(const Level& level) {
  std::vector<std::vector<int>> hosts_of(level.names.size());
  for (std::size_t host = 0; host < level.group_of.size(); ++host) {
    hosts_of[level.group_of[host]].push_back(static_cast<int>(host));
  }
  Json hosts = Json::array();
  for (const std::vector<int>& of_group : hosts_of) hosts.push_back(number_ranges(of_group));
  return {{"kind", level.kind}, {"names", level.names}, {"hosts", std::move(hosts)}};
}

/// A row a group: the hops to each, in order.
Json hops_json(const Network& network) {
  Json rows = Json::array();
  if (network.hops.empty()) return rows;
  const std::size_t num_groups = network.levels.front().names.size();
  for (std::size_t group = 0; group < num_groups; ++group) {
    std::string row;
    for (std::size_t other = 0; other < num_groups; ++other) {
      row += fmt::format("{}{}", other == 0 ? "" : " ", network.hops[group * num_groups + other]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::uint32_t number_below(std::string_view digits, std::size_t limit) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value >= limit) {
    fail_stored(
        fmt::format("has '{}' where a number below {} is wanted", printable(digits, LineEnds::replaced), limit));
  }
  return value;
}

/// "0-3,8": the group has those hosts, which nobody else has.
void put_hosts(std::string_view ranges, std::uint32_t group, std::vector<std::uint32_t>& group_of) {
  for (const std::string_view range : split(ranges, ',')) {
    const auto ends = split(range, '-');
    const std::uint32_t first = number_below(ends.front(), group_of.size());
    const std::uint32_t last = ends.size() == 2 ? number_below(ends.back(), group_of.size()) : first;
    if (ends.size() > 2 || last < first) fail_stored("has hosts that are no ranges of numbers");
    for (std::uint32_t host = first; host <= last; ++host) {
      if (std::exchange(group_of[host], group) != nobody) fail_stored("has a host in two groups");
    }
  }
}

Level level_of(const Json& json, std::size_t num_hosts) {
  Level level{printable(json.at("kind").get<std::string>(), LineEnds::replaced), {}, {}};
  level.group_of.assign(num_hosts, nobody);
  const auto& hosts = json.at("hosts").elements();
  for (const Json& name : json.at("names").elements()) {
    level.names.push_back(printable(name.get<std::string>(), LineEnds::replaced));
  }
  if (level.names.size() != hosts.size()) fail_stored("has groups without names");
  for (std::uint32_t group = 0; group < hosts.size(); ++group) {
    put_hosts(hosts[group].get<std::string>(), group, level.group_of);
  }
  if (std::ranges::find(level.group_of, nobody) != level.group_of.end()) fail_stored("lacks hosts of the run");
  return level;
}

/// A group lies within one of the next level.
void expect_nested(const Level& inner, const Level& outer) {
  std::vector<std::uint32_t> outer_of(inner.names.size(), nobody);
  for (std::size_t host = 0; host < inner.group_of.size(); ++host) {
    std::uint32_t& known = outer_of[inner.group_of[host]];
    if (known == nobody) known = outer.group_of[host];
    if (known != outer.group_of[host]) fail_stored("has a group in two groups of the next level");
  }
}

std::vector<std::uint8_t> hops_of(const Json& rows, std::size_t num_groups) {
  std::vector<std::uint8_t> hops;
  if (rows.size() == 0) return hops;
  if (rows.size() != num_groups) fail_stored("has hops of other groups");
  for (const Json& row : rows.elements()) {
    const auto text = row.get<std::string>();
    const auto numbers = split(text, ' ');
    if (numbers.size() != num_groups) fail_stored("has hops of other groups");
    for (const std::string_view number : numbers) {
      hops.push_back(static_cast<std::uint8_t>(number_below(number, most_hops + 1)));
    }
  }
  return hops;
}

}  // namespace

std::string stored_text(const Network& network) {
  if (network.hosts.empty() || network.levels.empty()) return "";
  const auto left_out = [&](const std::string& why) {
    return Json{{"source", network.source}, {"why_left_out", why}}.in_one_line();
  };
  if (!have_distinct_names(network.hosts)) return left_out("several hosts have one name");
  // Two bytes a hop.
  std::string text;
  if (2 * network.hops.size() <= most_stored_bytes) {
    Json levels = Json::array();
    for (const Level& level : network.levels) levels.push_back(json_of(level));
    text = Json{{"source", network.source}, {"levels", levels}, {"hops", hops_json(network)}}.in_one_line();
  }
  if (!text.empty() && text.size() <= most_stored_bytes) return text;
  return left_out(fmt::format("it would take more than {}", format_bytes(most_stored_bytes)));
}

StoredNetwork stored_network(std::string_view text, const std::vector<std::string>& hosts) {
  if (text.size() > most_stored_bytes) fail_stored("is longer than any");
  const Json json = Json::parse(text);
  StoredNetwork stored;
  stored.network.source = printable(json.at("source").get<std::string>(), LineEnds::replaced);
  if (const Json* const why = json.find("why_left_out")) {
    stored.why_left_out = printable(why->get<std::string>(), LineEnds::replaced);
    return stored;
  }
  stored.network.hosts = hosts;
  const auto& levels = json.at("levels").elements();
  if (levels.empty() || levels.size() > most_stored_levels) fail_stored("has no levels, or too many");
  for (const Json& level : levels) {
    stored.network.levels.push_back(level_of(level, hosts.size()));
    const auto& all = stored.network.levels;
    if (all.size() > 1) expect_nested(all[all.size() - 2], all.back());
  }
  stored.network.hops = hops_of(json.at("hops"), stored.network.levels.front().names.size());
  return stored;
}

std::string words_of_stored(std::string_view text) {
  const Json json = Json::parse(text);
  std::string facts;
  if (const Json* const why = json.find("why_left_out")) {
    facts = "left out: " + why->get<std::string>();
  } else {
    for (const Json& level : json.at("levels").elements()) {
      const std::size_t num = level.at("names").size();
      const auto kind = level.at("kind").get<std::string>();
      facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", num, num == 1 ? kind : plural_of(kind));
    }
  }
  return printable(fmt::format("{} ({})", json.at("source").get<std::string>(), facts), LineEnds::replaced);
}

}  // namespace leadline::network
