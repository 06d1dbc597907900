// SPDX-License-Identifier: Apache-2.0
// The result of a topology test as JSON; every key is explained in docs/formats/json.md and in its schema.
#pragma once

#include <string>

#include "model/topology_result.hpp"

namespace leadline::result::topology {

/// A document with a line end. What was not measured is null.
std::string json_text(const TopologyResult& result);

}  // namespace leadline::result::topology
