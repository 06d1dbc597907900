// SPDX-License-Identifier: Apache-2.0
// A comparison of two results as people read it.
#pragma once

#include <string>
#include <vector>

#include "model/diagnosis.hpp"

namespace leadline::output {

/// Several lines, each with its end: classes in a table, then the components that changed otherwise.
std::string comparison_text(const Comparison& comparison);

/// Those of several message sizes, one behind the other.
std::string comparisons_text(const std::vector<Comparison>& comparisons);

}  // namespace leadline::output
