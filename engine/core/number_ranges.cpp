// SPDX-License-Identifier: Apache-2.0
// Lists of whole numbers as people write them.
#include "core/number_ranges.hpp"

namespace leadline {

std::string number_ranges(std::span<const int> ascending) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < ascending.size(); first = next) {
    next = first + 1;
    while (next < ascending.size() && ascending[next] == ascending[next - 1] + 1) ++next;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[first]);
    if (next - first > 1) text += '-' + std::to_string(ascending[next - 1]);
  }
  return text;
}

}  // namespace leadline
