// SPDX-License-Identifier: Apache-2.0
// The result of a link test as JSON; every key is explained in docs/formats/json.md and in its schema.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "model/link_result.hpp"

namespace leadline::result {

/// Keys in the order of the document. What was not measured is null.
nlohmann::ordered_json to_json(const LinkResult& result);

/// The same as text for people and files, with a line end. Text that is no UTF-8 is replaced where it is wrong.
std::string json_text(const LinkResult& result);

}  // namespace leadline::result
