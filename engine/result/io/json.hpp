// SPDX-License-Identifier: Apache-2.0
// The result of a parallel file test as JSON; every key is explained in docs/formats/json.md and in its schema.
#pragma once

#include <cstddef>
#include <string>

#include "model/io_result.hpp"

namespace leadline::result::io {

/// A document with a line end. What was not measured is null.
std::string json_text(const IoResult& result);

/// One of the document's phases in a line. Where that would be longer, the lists of wrong objects, stragglers and slow
/// calls lose their last entries, and if that is not enough, the error its end.
std::string phase_text(const PhaseSummary& summary, std::size_t most_bytes);

}  // namespace leadline::result::io
