// SPDX-License-Identifier: Apache-2.0
// Topologies as people write them: names on the command line, and files with one edge a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/topology.hpp"

namespace leadline::schedule {

/// "star", "star2", "star:3" (another centre), "star-each" (every rank as centre in turn: as many topologies as ranks),
/// "complete", "complete2" and their old names chaos, chaos2; "ring", "ring2"; "torus-2d", "torus-3d", "torus:4x4x2",
/// "hypercube", "tree", "halves", "incast:K", "outcast:K" (K hot ranks, 1 where left out). A suffix 2 means both ways
/// at once (also star2:3, star2-each). Those of the six old names have their mode from NETTEST: star and complete
/// answered, ring phased, with 2 both ways; incast and outcast are one way; the others have `mode`.
/// Throws Error(bad_command_line) that names the option, the word and what it may be.
std::vector<TopologySpec> parse_topology(const std::string& option, std::string_view text, ChannelMode mode,
                                         int num_ranks);

/// Whether `mode` would change what parse_topology gives for this word.
bool takes_mode(std::string_view text);

/// The edges in a text: two ranks a line, with blanks or a comma between; `#` begins a comment; empty lines are
/// nothing. Throws Error(bad_command_line) with file, line and token: not a rank, more or fewer than two, an edge from
/// a rank to itself or twice, a rank that `num_ranks` ranks do not have, no edge at all.
std::vector<Edge> parse_edges(const std::string& file, std::string_view text, int num_ranks);

}  // namespace leadline::schedule
