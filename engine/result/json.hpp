// SPDX-License-Identifier: Apache-2.0
// The result of a link test as JSON; every key is explained in docs/formats/json.md and in its schema.
#pragma once

#include <string>

#include "model/link_result.hpp"

namespace leadline::result {

/// A document with a line end, keys in the order of the schema. What was not measured is null. Text that is no UTF-8 is
/// replaced where it is wrong.
std::string json_text(const LinkResult& result);

}  // namespace leadline::result
