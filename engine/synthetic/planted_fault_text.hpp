// SPDX-License-Identifier: Apache-2.0
// Planted faults as people read them.
#pragma once

#include <string>

#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// "host node3", "the link node1 - node4, there only", "the uplink of leaf2".
std::string name_of_component(const Machine& machine, const PlantedFault& fault);

/// "host node3: takes 1.5 times as long", with what it loses and when it shows.
std::string words_of(const Machine& machine, const PlantedFault& fault);

}  // namespace leadline::synthetic
