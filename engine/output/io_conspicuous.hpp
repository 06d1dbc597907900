// SPDX-License-Identifier: Apache-2.0
// What of a parallel file test a person should look at: slow ranks and calls, hints, wrong data.
#pragma once

#include <string>

#include "model/io_result.hpp"

namespace leadline::output {

std::string io_stragglers_text(const IoResult& result);
std::string io_slow_calls_text(const IoResult& result);

/// Those that were asked for, each with what became of it.
std::string io_hints_text(const IoResult& result);

/// A line for each of the first wrong stretches, and how many objects are wrong in all.
std::string io_wrong_text(const IoResult& result);

}  // namespace leadline::output
