// SPDX-License-Identifier: Apache-2.0
// Switches, uplinks, sockets, rails, hosts and ranks that are slow: by what their pairs have in common, the larger
// places first, so that what explains much is told once.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {

/// The same on all who hold rows: a function of effects that all have. `notes` gets what could not be told.
std::vector<Suspect> find_components(const Effects& effects, const Layout& layout, const PairClasses& classes,
                                     const Members& hosts, const DiagnosisSettings& settings,
                                     std::vector<std::string>& notes);

}  // namespace leadline::diagnosis
