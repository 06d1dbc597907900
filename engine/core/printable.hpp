// SPDX-License-Identifier: Apache-2.0
// Text of others, as a terminal may show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leadline {

enum class LineEnds : std::uint8_t { kept, replaced };

/// The text with `instead` for each character that a terminal obeys, or that begins a line or changes the order of
/// letters: control characters, those of UTF-8 from U+0080 to U+009F too, and Unicode's line separators and marks of
/// direction. Tabs are kept where ends of lines are.
std::string printable(std::string_view text, LineEnds line_ends, char instead = '?');

}  // namespace leadline
