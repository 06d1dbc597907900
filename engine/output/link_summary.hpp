// SPDX-License-Identifier: Apache-2.0
// The end of a link test on the terminal: what was found, and where to read on.
#pragma once

#include <string>

#include "model/link_result.hpp"

namespace leadline::output {

/// A block for one slice or a table for several, the slowest pairs with their verdicts, findings, and where the result
/// is (`result_path`; empty or "-" = nowhere to point at). A pure function; ends with a line end.
std::string link_summary(const LinkResult& result, const std::string& result_path);

}  // namespace leadline::output
