// SPDX-License-Identifier: Apache-2.0
// Lists of whole numbers as people write them: "0-3,8".
#pragma once

#include <span>
#include <string>

namespace leadline {

/// Ascending numbers, neighbours drawn together: {0,1,2,3,8} -> "0-3,8". Empty for none.
std::string number_ranges(std::span<const int> ascending);

}  // namespace leadline
