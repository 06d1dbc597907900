// SPDX-License-Identifier: Apache-2.0
// The network of a run as its result has it (docs/formats/hdf5.md, "/network"): what a later diagnosis knows of it
// without the file that --topology named.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

/// Longer ones are left out of results. A network of 100,000 hosts in three levels takes a tenth of it.
inline constexpr std::size_t most_stored_bytes = std::size_t{1} << 23;

/// The network of a run's hosts as JSON in one line, at most `most_stored_bytes`: source, levels, hops; or source and
/// why the rest is left out. Empty where nothing is known of it, or names were left out (packed()).
std::string stored_text(const Network& network);

struct StoredNetwork {
  Network network;           ///< of those hosts; of one that is left out the source alone
  std::string why_left_out;  ///< empty = it is there
};

/// What stored_text() made, for the same hosts in the same order. Texts are printable. Throws JsonError for what no
/// network of these hosts is.
StoredNetwork stored_network(std::string_view text, const std::vector<std::string>& hosts);

/// What it is, for people: "topology.conf (16 leaf switches, 2 pods)"; of one that is left out source and reason.
/// Printable. Throws JsonError.
std::string words_of_stored(std::string_view text);

}  // namespace leadline::network
