// SPDX-License-Identifier: Apache-2.0
// Slow cables between the switches of a line, ring, torus or dragonfly, and uplinks of a tree many of which are slow.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Slow cables or uplinks, and what they add to pairs of innermost groups (switches with hosts).
struct SlowPaths {
  /// ComponentKind::cable of level 0, or uplink; port of a host that is slow with all others. Both directions.
  std::vector<Suspect> suspects;
  std::uint32_t num_groups = 0;
  std::vector<std::uint32_t> group_of;     ///< by rank
  std::vector<float> excess;               ///< by pair of groups, logarithm: of pairs that take at least `slow_from`
  std::vector<float> usual, slow_from;     ///< by pair of groups: ln ns
  std::vector<std::uint8_t> is_slow_host;  ///< that is a suspect; empty: none is
  bool is_contended = false;               ///< flows share cables
};

/// Collective; the same on all holders of rows. The smallest set of cables, switches, uplinks and hosts that explains
/// which pairs of groups are slow, found one by one by what each adds to the likelihood; of these the cables, or of a
/// tree the uplinks: only where many of a level are slow, or where flows share cables. A cable counts for a pair with
/// the share of its shortest paths that have it.
SlowPaths find_slow_paths(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings);

/// Collective, where groups were learnt from the times: one of four hosts or more, a third of all at most, whose pairs
/// with all others take 1.5 times as long as the farthest of the others with each other. They share a slow way, or
/// stand far away; times cannot tell which.
std::optional<Suspect> find_group_apart(const Rows& rows, const Setting& setting);

/// The rows without what slow paths and hosts add; all arguments outlive it.
std::unique_ptr<Rows> without_slow_paths(const Rows& rows, const SlowPaths& paths, const Layout& layout);

}  // namespace leadline::diagnosis
