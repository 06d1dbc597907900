// SPDX-License-Identifier: Apache-2.0
// Reads SwitchName=... Nodes=... Switches=..., with what Slurm allows around it.
#include "network/slurm_lines.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "network/hostlist.hpp"
#include "network/limits.hpp"
#include "network/lines.hpp"
#include "network/refusal.hpp"

namespace leadline::network {
namespace {

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

}  // namespace

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
    joined.append(own).append(" ");
    if (goes_on) continue;
    const std::vector<std::string_view> words = words_of(joined);
    if (!words.empty()) found.push_back(to_switch(line, read_values(line, words), num_left));
    joined.clear();
  }
  if (!words_of(joined).empty()) Line{file, lines.number()}.refuse("the file ends before the line does");
  if (found.empty()) refuse_file(file, "it has no switch", slurm_example);
  return found;
}

}  // namespace leadline::network
