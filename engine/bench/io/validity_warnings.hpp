// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a parallel file test, and findings about its ranks and files: a pure function of its result.
#pragma once

#include <vector>

#include "bench/validity_warnings.hpp"
#include "model/io_result.hpp"

namespace leadline::bench::io {

/// Findings: stragglers and slow calls first, then what makes the numbers less than they seem: reads from cache, writes
/// that are not durable, more ranks than cores, calls that were continued, hints that are not confirmed.
std::vector<Finding> validity_warnings(const Conditions& conditions, const IoResult& result);

}  // namespace leadline::bench::io
