// SPDX-License-Identifier: Apache-2.0
// One phase of a parallel file test as a JSON object.
#pragma once

#include "model/io_result.hpp"
#include "result/json_parts.hpp"

namespace leadline::result::io {

Json phase_json(const PhaseSummary& its);

}  // namespace leadline::result::io
