// SPDX-License-Identifier: Apache-2.0
// The JSON document of a check.
#pragma once

#include <string>

#include "check/result.hpp"
#include "core/json.hpp"

namespace leadline::check {

/// With a line end.
std::string json_text(const CheckResult& result);

Json schema();

}  // namespace leadline::check
