// SPDX-License-Identifier: Apache-2.0
// Slow cables between the switches of a network that is no tree: a line, ring, torus or dragonfly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Slow cables, and what they add to pairs of switches.
struct GraphCables {
  std::vector<Suspect> cables;  ///< ComponentKind::cable of level 0, both directions
  std::uint32_t num_groups = 0;
  std::vector<std::uint32_t> group_of;  ///< by rank
  std::vector<float> excess;            ///< by pair of groups, logarithm: of pairs that take at least `slow_from`
  std::vector<float> usual, slow_from;  ///< by pair of groups: ln ns
};

/// Collective; the same on all holders of rows. Where the network has hops: the smallest set of cables, switches,
/// uplinks and hosts that explains which pairs of switches are slow, found one by one by what each adds to the
/// likelihood; of these the cables. What so many hops take is known from sound pairs, and that a hop more takes no more
/// than another (latencies along a path add up). A cable counts for a pair with the share of its shortest paths that
/// have it. Levels and paths are those of switches with hosts.
GraphCables find_graph_cables(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings);

/// The rows without what slow cables add; both arguments outlive it.
std::unique_ptr<Rows> without_cables(const Rows& rows, const GraphCables& cables);

}  // namespace leadline::diagnosis
