// SPDX-License-Identifier: Apache-2.0
// Findings as a person reads them.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"

namespace leadline::output {

/// "warning: what it is", and below it, indented, the evidence and the advice; warnings first. Empty for no findings.
std::string findings_text(const std::vector<Finding>& findings);

}  // namespace leadline::output
