// SPDX-License-Identifier: Apache-2.0
// Which ranks and hosts a bisection test found slow in nearly all their patterns, and which connections, alone or not.
#pragma once

#include <string>

#include "model/bisection_result.hpp"

namespace leadline::output {

/// A line each, or that there are none. Empty without random patterns.
std::string slow_components_text(const BisectionResult& result);

/// The slowest connections with what came of measuring them alone: those slow alone, too, before those that are slow
/// only together. Empty where there are none.
std::string slow_connections_text(const BisectionResult& result);

}  // namespace leadline::output
