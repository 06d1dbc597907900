// SPDX-License-Identifier: Apache-2.0
// JSON documents as text, and what is read of them.
#include "result/json_parts.hpp"

#include <limits>

namespace leadline::result {

double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

std::string text_of(const Json& document) { return document.indented() + "\n"; }

std::string line_of(const Json& document) { return document.in_one_line(); }

}  // namespace leadline::result
