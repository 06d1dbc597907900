// SPDX-License-Identifier: Apache-2.0
// Comparisons in JSON; docs/formats/comparison.schema.json says what the keys mean.
#pragma once

#include <string>
#include <vector>

#include "model/comparison.hpp"
#include "result/json_parts.hpp"

namespace leadline::result {

/// The document of `leadline compare`, with a line end; one comparison for each message size.
std::string comparison_document(const std::string& before_path, const std::string& after_path,
                                const std::vector<Comparison>& comparisons);

}  // namespace leadline::result
