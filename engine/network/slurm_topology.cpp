// SPDX-License-Identifier: Apache-2.0
// Builds the tree of switches of a topology.conf.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "network/hostlist.hpp"
#include "network/lines.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"

namespace leadline::network {
namespace {

struct SlurmSwitch {
  std::string name;
  std::size_t line = 0;
  std::vector<std::string> nodes, switches;  ///< one of the two is empty, the other is not
};

constexpr std::array<std::string_view, 5> known_keys{"switchname", "nodes", "switches", "linkspeed", "level"};
constexpr const char* slurm_example = "A line is: SwitchName=NAME and either Nodes=HOSTS or Switches=NAMES";

/// The values of a line in the order of known_keys.
using Values = std::array<std::optional<std::string_view>, known_keys.size()>;

enum Key : std::size_t { switch_name, nodes, switches, link_speed, level };

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

Values read_values(const Line& line, const std::vector<std::string_view>& words) {
  Values values;
  for (const std::string_view word : words) {
    const std::size_t sign = word.find('=');
    const std::string key = lowered(word.substr(0, sign));
    if (key == "include") line.refuse("Include is not followed", "Put the lines of that file in its place");
    if (key.starts_with("block")) {
      line.refuse("blocks are no tree of switches", "Describe the switches: " + std::string(slurm_example));
    }
    std::size_t index = 0;
    while (index < known_keys.size() && known_keys[index] != key) ++index;
    if (sign == std::string_view::npos || index == known_keys.size()) {
      line.refuse(fmt::format("{} means nothing here", shown(word)), slurm_example);
    }
    if (values[index]) line.refuse(fmt::format("{} is given twice", shown(word.substr(0, sign))), slurm_example);
    values[index] = unquoted(word.substr(sign + 1));
  }
  return values;
}

SlurmSwitch to_switch(const Line& line, const Values& values, std::size_t& num_left) {
  if (!values[switch_name]) line.refuse("no SwitchName", slurm_example);
  SlurmSwitch found{std::string(*values[switch_name]), line.number, {}, {}};
  if (found.name.empty() || found.name.find_first_of("[],") != std::string::npos) {
    line.refuse(fmt::format("{} is not the name of one switch", shown(found.name)), slurm_example);
  }
  // scontrol, which tells the level, repeats behind each switch all nodes below it.
  const bool is_upper = values[level] && values[switches];
  if (values[nodes] && values[switches] && !is_upper) {
    line.refuse(fmt::format("switch {} has both Nodes and Switches", found.name),
                "Put the nodes below a switch of their own");
  }
  if (!values[nodes] && !values[switches]) {
    line.refuse(fmt::format("switch {} has neither Nodes nor Switches", found.name), "Leave it out");
  }
  const auto expand = [&](std::string_view list) {
    std::vector<std::string> names = expand_hostlist(line, list, num_left);
    num_left -= names.size();
    return names;
  };
  if (values[switches]) {
    found.switches = expand(*values[switches]);
  } else {
    found.nodes = expand(*values[nodes]);
  }
  return found;
}

/// In the order of the file, not yet checked against each other. Throws Error(bad_command_line) that names file and
/// line.
std::vector<SlurmSwitch> read_slurm_switches(const std::string& file, std::string_view text) {
  std::vector<SlurmSwitch> found;
  std::size_t num_left = most_hosts;
  Lines lines(text);
  std::string joined;  // of lines that go on in the next one
  while (const auto next = lines.next()) {
    const Line line{file, lines.number()};
    std::string_view own = next->substr(0, next->find('#'));
    own = own.substr(0, own.find_last_not_of(" \t\r") + 1);
    const bool goes_on = own.ends_with('\\');
    if (goes_on) own.remove_suffix(1);
    joined.append(own);  // as Slurm does: a list may go on after a comma
    if (goes_on) continue;
    const std::vector<std::string_view> words = words_of(joined);
    if (!words.empty()) found.push_back(to_switch(line, read_values(line, words), num_left));
    joined.clear();
  }
  if (!words_of(joined).empty()) Line{file, lines.number()}.refuse("the file ends before the line does");
  if (found.empty()) refuse_file(file, "it has no switch", slurm_example);
  return found;
}

constexpr std::uint32_t most_heights = 16;  // a deeper tree is a mistake, and each height takes memory for all hosts

/// Switches by their number in the file.
struct SlurmTree {
  const std::string& file;
  std::vector<SlurmSwitch> switches;
  std::vector<std::uint32_t> parent{};  ///< `nobody`: on top
  std::vector<std::uint32_t> height{};  ///< 0: has nodes

  std::size_t size() const { return switches.size(); }
  Line line_of(std::size_t index) const { return {file, switches[index].line}; }
};

void find_parents(SlurmTree& tree) {
  std::unordered_map<std::string_view, std::uint32_t> number_of;
  for (std::uint32_t index = 0; index < tree.size(); ++index) {
    const auto [first, is_new] = number_of.try_emplace(tree.switches[index].name, index);
    if (!is_new) {
      tree.line_of(index).refuse(
          fmt::format("switch {} is in line {} already", tree.switches[index].name, tree.switches[first->second].line),
          "Give each switch one line");
    }
  }
  tree.parent.assign(tree.size(), nobody);
  for (std::uint32_t index = 0; index < tree.size(); ++index) {
    for (const std::string& name : tree.switches[index].switches) {
      const auto child = number_of.find(name);
      if (child == number_of.end()) {
        tree.line_of(index).refuse(fmt::format("there is no switch {}", name),
                                   fmt::format("Add a line SwitchName={}, or correct the name", name));
      }
      std::uint32_t& parent = tree.parent[child->second];
      if (parent != nobody) {
        tree.line_of(index).refuse(
            fmt::format("switch {} is below switch {} already", name, tree.switches[parent].name),
            "Write spines that reach the same switches as one switch");
      }
      parent = index;
    }
  }
}

/// One switch that is reached from itself; `open`: switches that are on or above such a ring.
[[noreturn]] void refuse_ring(const SlurmTree& tree, std::uint32_t open) {
  // Every switch on a ring has a parent, and a switch without height has a ring below: follow it down until a name
  // repeats.
  std::unordered_map<std::string_view, std::uint32_t> number_of;
  for (std::uint32_t index = 0; index < tree.size(); ++index) number_of.emplace(tree.switches[index].name, index);
  std::vector<bool> was_seen(tree.size());
  while (!was_seen[open]) {
    was_seen[open] = true;
    const auto& below = tree.switches[open].switches;
    const auto child =
        std::ranges::find_if(below, [&](const std::string& name) { return tree.height[number_of.at(name)] == nobody; });
    open = number_of.at(*child);
  }
  tree.line_of(open).refuse(fmt::format("switch {} is below itself", tree.switches[open].name),
                            "Switches form a tree: correct Switches= on the way down from it");
}

/// From those with nodes upwards: a switch has its height when all those below it have theirs.
void find_heights(SlurmTree& tree) {
  tree.height.assign(tree.size(), nobody);
  std::vector<std::size_t> num_open(tree.size());
  std::vector<std::uint32_t> height(tree.size(), 0), ready;
  for (std::uint32_t index = 0; index < tree.size(); ++index) {
    num_open[index] = tree.switches[index].switches.size();
    if (num_open[index] == 0) ready.push_back(index);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const std::uint32_t index = ready[next], parent = tree.parent[index];
    tree.height[index] = height[index];
    if (height[index] >= most_heights) {
      tree.line_of(index).refuse(fmt::format("more than {} switches on top of each other", most_heights),
                                 "Leave out those that have one switch below them");
    }
    if (parent == nobody) continue;
    height[parent] = std::max(height[parent], height[index] + 1);
    if (--num_open[parent] == 0) ready.push_back(parent);
  }
  const auto open = std::ranges::find(tree.height, nobody);
  if (open != tree.height.end()) refuse_ring(tree, static_cast<std::uint32_t>(open - tree.height.begin()));
}

/// Refuses a leaf switch that is in no tree although others are. Several trees are fine, and so are leaves only.
void expect_no_isolated_leaf(const SlurmTree& tree) {
  if (std::ranges::all_of(tree.height, [](std::uint32_t height) { return height == 0; })) return;
  for (std::size_t index = 0; index < tree.size(); ++index) {
    if (tree.height[index] > 0 || tree.parent[index] != nobody) continue;
    tree.line_of(index).refuse(fmt::format("no switch has switch {} below it", tree.switches[index].name),
                               "Name it behind Switches= of the one above it");
  }
}

/// The highest switch above (or equal to) `index` whose height is not more than `height`.
std::uint32_t ancestor(const SlurmTree& tree, std::uint32_t index, std::uint32_t height) {
  while (tree.parent[index] != nobody && tree.height[tree.parent[index]] <= height) index = tree.parent[index];
  return index;
}

/// Nodes of each leaf in turn.
void add_hosts(const SlurmTree& tree, Network& network) {
  std::unordered_map<std::string_view, std::size_t> leaf_of;
  for (std::size_t index = 0; index < tree.size(); ++index) {
    for (const std::string& name : tree.switches[index].nodes) {
      const auto [first, is_new] = leaf_of.try_emplace(name, index);
      if (!is_new) {
        const SlurmSwitch& other = tree.switches[first->second];
        tree.line_of(index).refuse(first->second == index ? fmt::format("host {} is named twice", name)
                                                          : fmt::format("host {} is on switch {} (line {}) already",
                                                                        name, other.name, other.line),
                                   "A host is on one leaf switch");
      }
      network.hosts.push_back(name);
    }
  }
}

Level level_at(const SlurmTree& tree, std::uint32_t height, std::size_t num_hosts) {
  Level level{height == 0 ? "leaf switch" : fmt::format("level-{} switch", height + 1), {}, {}};
  level.group_of.reserve(num_hosts);
  std::vector<std::uint32_t> group_of(tree.size(), nobody);
  for (std::uint32_t index = 0; index < tree.size(); ++index) {
    if (tree.height[index] > 0) continue;
    const std::uint32_t top = ancestor(tree, index, height);
    if (group_of[top] == nobody) {
      group_of[top] = static_cast<std::uint32_t>(level.names.size());
      level.names.push_back(tree.switches[top].name);
    }
    level.group_of.insert(level.group_of.end(), tree.switches[index].nodes.size(), group_of[top]);
  }
  return level;
}

}  // namespace

namespace {

SlurmTree read_tree(const std::string& file, std::string_view text) {
  SlurmTree tree{file, read_slurm_switches(file, text)};
  find_parents(tree);
  find_heights(tree);
  expect_no_isolated_leaf(tree);
  return tree;
}

}  // namespace

std::string slurm_cables(const std::string& file, std::string_view text) {
  const SlurmTree tree = read_tree(file, text);
  Network checked;
  add_hosts(tree, checked);
  std::vector<std::size_t> num_below(tree.size());
  for (std::uint32_t leaf = 0; leaf < tree.size(); ++leaf) {
    for (std::uint32_t at = leaf; at != nobody; at = tree.parent[at]) num_below[at] += tree.switches[leaf].nodes.size();
  }
  std::string cables = fmt::format("hosts: {}\n", fmt::join(checked.hosts, " "));
  for (std::uint32_t index = 0; index < tree.size(); ++index) {
    const SlurmSwitch& own = tree.switches[index];
    for (const std::string& node : own.nodes) cables += fmt::format("{} switch:{} 1\n", node, own.name);
    if (tree.parent[index] == nobody) continue;
    cables +=
        fmt::format("switch:{} switch:{} {}\n", own.name, tree.switches[tree.parent[index]].name, num_below[index]);
  }
  return cables;
}

Network parse_slurm_topology(const std::string& file, std::string_view text) {
  const SlurmTree tree = read_tree(file, text);
  Network network;
  network.source = file;
  add_hosts(tree, network);
  const std::uint32_t top = *std::ranges::max_element(tree.height);
  for (std::uint32_t height = 0; height <= top; ++height) {
    network.levels.push_back(level_at(tree, height, network.hosts.size()));
  }
  return network;
}

}  // namespace leadline::network
