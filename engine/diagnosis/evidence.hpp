// SPDX-License-Identifier: Apache-2.0
// Which pairs belong to a place, and some of them with their times, for people to check.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/rows.hpp"
#include "diagnosis/setting.hpp"
#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {

/// Whether messages from one rank to another pass the place in a way that its fault concerns.
bool belongs(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to);

/// A measured pair and what it took, ln ns.
struct MeasuredPair {
  OrderedPair pair;
  double value = 0;
};

/// Collective: of each suspect at most `most` of its pairs, with partners that nobody suspects where there are any.
std::vector<std::vector<MeasuredPair>> evidence_for(const Rows& rows, const Setting& setting,
                                                    std::span<const Suspect> suspects, std::size_t most);

/// Collective: at most `most` pairs between hosts (inside, where there is one host) that belong to no suspect.
std::vector<MeasuredPair> sound_pairs(const Rows& rows, const Setting& setting, std::span<const Suspect> suspects,
                                      std::size_t most);

}  // namespace leadline::diagnosis
