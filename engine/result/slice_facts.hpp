// SPDX-License-Identifier: Apache-2.0
// The few numbers that describe a slice, from its summary or, where there is none, from its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "result/link_result_reader.hpp"

namespace leadline::result {

/// Over the medians of the ordered pairs measured. NaN where there is no pair.
struct SliceFacts {
  std::uint64_t num_pairs = 0;
  double time_ns_min = std::numeric_limits<double>::quiet_NaN();
  double time_ns_median = std::numeric_limits<double>::quiet_NaN();
  double time_ns_max = std::numeric_limits<double>::quiet_NaN();
};

/// Of header().repeats[repeat_index] and that size. Exact. Without a summary all rows are read several times; memory is
/// that of one row and 512 KiB.
SliceFacts slice_facts(LinkResultReader& reader, std::size_t repeat_index, std::size_t size_index);

}  // namespace leadline::result
