// SPDX-License-Identifier: Apache-2.0
// What a bisection test says of named patterns, and of the worst one that a search has found.
#pragma once

#include <string>

#include "model/bisection_result.hpp"

namespace leadline::output {

/// Named patterns by size, and in detail at the largest size. Empty where none was measured.
std::string named_patterns_text(const BisectionResult& result);

/// A line a size. Empty without search.
std::string worst_patterns_text(const BisectionResult& result);

}  // namespace leadline::output
