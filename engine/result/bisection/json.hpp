// SPDX-License-Identifier: Apache-2.0
// The result of a bisection test as JSON; every key is explained in docs/formats/json.md and in its schema.
#pragma once

#include <string>

#include "model/bisection_result.hpp"

namespace leadline::result::bisection {

/// A document with a line end. What was not measured is null.
std::string json_text(const BisectionResult& result);

}  // namespace leadline::result::bisection
