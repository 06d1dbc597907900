// SPDX-License-Identifier: Apache-2.0
// Whether so many ranks can form a topology.
#pragma once

#include "schedule/topology.hpp"

namespace leadline::schedule {

/// Throws Error(bad_command_line) that names spec.name, as the constructor of Topology promises.
void check_fit(const TopologySpec& spec, int num_ranks);

}  // namespace leadline::schedule
