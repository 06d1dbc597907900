// SPDX-License-Identifier: Apache-2.0
// The way between two switches that all hosts hang on: no other way is there to compare it with.
#pragma once

#include <optional>

#include "diagnosis/effects.hpp"
#include "diagnosis/setting.hpp"
#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {

/// The same on all who hold rows. The cable between two switches, where pairs across take so much longer than pairs
/// below both that neither chance nor one more switch on the way accounts for it. Nothing where a network has another
/// number of switches, or hosts that were grouped by their times: then the distance is how they were grouped.
std::optional<Suspect> slow_between_two(const Effects& effects, const Setting& setting,
                                        const DiagnosisSettings& settings);

}  // namespace leadline::diagnosis
