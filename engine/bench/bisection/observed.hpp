// SPDX-License-Identifier: Apache-2.0
// What a diagnosis works on, from a bisection test's result or from its file: the same for both.
#pragma once

#include <cstddef>

#include "bench/bisection/hdf5_reader.hpp"
#include "bench/bisection/result.hpp"
#include "diagnosis/observations.hpp"

namespace leadline::bench::bisection {

/// The random patterns of a size without their observations, which the ranks have.
diagnosis::ObservedSlice observed_of(const BisectionResult& result, std::size_t index);

/// The random patterns of a size; no observations where there are none.
diagnosis::ObservedSlice read_observed(const Hdf5Reader& reader, std::size_t size_index);

}  // namespace leadline::bench::bisection
