// SPDX-License-Identifier: Apache-2.0
// Which lines of a text are coloured on a terminal; the only place where colours come from.
#pragma once

#include <string>

namespace leadline::output {

/// The text with the lines coloured that tell how it went: green for what is fine, yellow for warnings and for what
/// could not be tested, red for faults. They are known by their first words, those of a check by its answer in the
/// first line.
std::string coloured(const std::string& text);

}  // namespace leadline::output
