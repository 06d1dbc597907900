// SPDX-License-Identifier: Apache-2.0
// Slow switches, uplinks, sockets, rails, hosts and ranks, by what their pairs have in common: larger components first,
// so that an effect is reported once.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"

namespace leadline::diagnosis {

/// The same on all who hold rows: a function of effects that all have. `notes` gets what could not be decided.
std::vector<Suspect> find_components(const Effects& effects, const Setting& setting, const DiagnosisSettings& settings,
                                     std::vector<std::string>& notes);

}  // namespace leadline::diagnosis
