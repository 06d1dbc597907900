// SPDX-License-Identifier: Apache-2.0
// Drift: what all pairs of a round take longer than those of other rounds, whoever they are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"

namespace leadline::diagnosis {

/// Of more ranks the rounds of pairs are not kept: two bytes a pair.
inline constexpr std::int64_t most_ranks_of_rounds = 2048;

/// Collective. By the number of a round, the logarithm of what its pairs take over those of the middle round: the
/// median of their residuals. Empty where rounds are unknown, or differ no more than their pairs let expect. The pairs
/// of a host, of a link or of two switches meet in a few rounds in a row, so that drift makes them look slow together.
std::vector<float> find_drift(const Rows& rows, const Effects& effects, const PairClasses& classes);

/// The rows without it; `rows` outlives it.
std::unique_ptr<Rows> without_drift(const Rows& rows, std::vector<float> drift);

/// Collective. The rows without what find_drift() finds beside their own fit, which costs one; nullptr where that is
/// nothing.
std::unique_ptr<Rows> without_own_drift(const Rows& rows, const PairClasses& classes);

}  // namespace leadline::diagnosis
