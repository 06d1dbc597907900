// SPDX-License-Identifier: Apache-2.0
// --fail-below and --strict: what a run must reach to end with status 0.
#pragma once

#include <string>

#include "model/link_result.hpp"

namespace leadline::cli {

/// Why the result is below its limit, in a sentence without its end; empty where it is not.
std::string below_limit(const LinkResult& result);

}  // namespace leadline::cli
