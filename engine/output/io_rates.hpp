// SPDX-License-Identifier: Apache-2.0
// How fast a parallel file test wrote and read, what that includes, and whether it means the storage.
#pragma once

#include <string>

#include "core/units.hpp"
#include "model/io_result.hpp"

namespace leadline::output {

/// The phase that stands for an operation: of the complete ones that whose rate is nearest to the median of all; null
/// where there is none.
const PhaseSummary* phase_for(const IoResult& result, IoOperation operation);

/// All rates go in one unit.
Unit unit_of_rates(const IoResult& result);

/// "write: 2.345 GiB/s, the median of 5 (2.100 to 2.500; mean 2.300 ± 0.120, 95 %)" and below it where the bytes came
/// from, or whether they are on the storage; for each operation.
std::string io_headlines(const IoResult& result);

/// Every phase with all its rates, and what these are.
std::string io_rates_table(const IoResult& result);

}  // namespace leadline::output
