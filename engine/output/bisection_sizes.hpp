// SPDX-License-Identifier: Apache-2.0
// The number that a bisection test is made for, and the distribution behind it, size by size.
#pragma once

#include <string>

#include "model/bisection_result.hpp"

namespace leadline::output {

/// Of one size a few lines and a table of its connections, of several a row each. Empty without random patterns.
std::string sizes_text(const BisectionResult& result);

/// The histogram of the largest size. Empty where there is none.
std::string histogram_text(const BisectionResult& result);

}  // namespace leadline::output
