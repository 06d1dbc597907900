// SPDX-License-Identifier: Apache-2.0
// The words of comparisons.
#include "model/comparison.hpp"

#include <algorithm>

namespace leadline {

bool is_worse(const Comparison& comparison) {
  const auto is_slower = [](const ComparedClass& one) { return one.change == Change::slower; };
  return !comparison.slower.empty() || std::ranges::any_of(comparison.classes, is_slower);
}

const char* name_of(Change change) {
  switch (change) {
    case Change::none:
      return "none";
    case Change::slower:
      return "slower";
    case Change::faster:
      return "faster";
  }
  return "unknown";
}

}  // namespace leadline
