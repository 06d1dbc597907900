// SPDX-License-Identifier: Apache-2.0
// Numbers of a bisection test as they are written for people: means with their intervals, shares, percentages.
#pragma once

#include <cstddef>
#include <string>

#include "core/units.hpp"
#include "model/bisection_result.hpp"

namespace leadline::output {

/// "3.214 ± 0.031"; the mean alone where there is no interval, "-" where nothing was measured.
std::string plus_minus(const Interval& interval, const Unit& unit);

/// A ratio: "0.830".
std::string share_text(double share);

/// "1.4 %" of a share.
std::string percent(double share);

/// Half width / mean.
double relative_width(const Interval& interval);

/// That of the size with this index; null where no random pattern was measured.
const BisectionSummary* summary_of(const BisectionResult& result, int size_index);

bool has_random_patterns(const BisectionResult& result);

/// The eBB of all sizes goes in one unit, and so does everything beside it.
Unit unit_of_bandwidths(const BisectionResult& result);

}  // namespace leadline::output
