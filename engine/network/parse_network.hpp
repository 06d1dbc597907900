// SPDX-License-Identifier: Apache-2.0
// The ways to describe a physical network, as --topology takes them (docs/formats/topology.md): a word, and the formats
// that a word or a file may have. That of ibnetdiscover has a header of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// The word for a network of which nothing is known.
inline constexpr std::string_view no_network = "none";

/// The network of exactly `hosts` in their order. `word` is a formula ("fat-tree:32x16"), "pattern:REGEX", the name of
/// a file, or no_network. Throws Error(bad_command_line) that says what is wrong with the word, the file, or its hosts.
Network parse_network(const std::string& word, const std::vector<std::string>& hosts);

/// All of a file of text. Throws Error(bad_command_line) that names it, with this hint.
std::string read_text(const std::string& path, const std::string& hint);

/// Slurm's topology.conf, the output of ibnetdiscover, or a list of cables. Throws Error(bad_command_line) that names
/// the file and, where there is one, the line.
Network read_topology(const std::string& path);

/// The same of a text that is there already; `file` is for messages and the network's source.
Network parse_topology(const std::string& file, std::string_view text);

/// "fat-tree:HOSTSxLEAVES[xPODS][,spines=N][,cores=N]", "dragonfly:H[,groups=G]" and "torus:XxYx...", as those of
/// `leadline simulate bisection`, with hosts numbered alike and without names. Throws Error(bad_command_line) with the
/// part that is wrong.
Network formula(const std::string& word);

enum class TopologyFile : std::uint8_t { slurm, ib, edges };

/// Which of them this text is. Throws Error(bad_command_line) for what is empty or no text.
/// Takes a byte order mark away.
TopologyFile kind_of_topology(const std::string& file, std::string_view& text);

/// Whether the word begins with a kind of formula, right or wrong.
bool is_formula(std::string_view word);

/// All kinds as people write them, for messages.
std::string formula_forms();

/// One level for each group of the regular expression (ECMAScript), the outermost first; a level has the name of its
/// group, "(?<rack>\d+)", else "name group". The expression matches a host's whole name, or else all of it up to the
/// first dot. Throws Error(bad_command_line) for an expression that is none or has no group, and for hosts that it does
/// not match.
Network by_pattern(const std::string& pattern, const std::vector<std::string>& hosts);

/// One level for each height of switches above the hosts; a switch without any of a height between it and the next one
/// is a group of its own there. Throws Error(bad_command_line) that names file and line for what is no tree.
Network parse_slurm_topology(const std::string& file, std::string_view text);

/// Its cables, see cables.hpp.
std::string slurm_cables(const std::string& file, std::string_view text);

/// A cable a line: two nodes, and a capacity that nothing here depends on. Hosts are the nodes with one cable, or those
/// that lines "hosts: ..." name. Throws Error(bad_command_line) that names file and line.
Network parse_edge_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
