// SPDX-License-Identifier: Apache-2.0
// The compact form of a pair's statistics: four bytes, for files in which the full ones would be too large.
#pragma once

#include <cstdint>

#include "model/samples.hpp"

namespace leadline {

/// What a compact file has of an ordered pair, from the highest bit: 16 bits for the median, 8 for the ratio of the
/// 99th percentile to it, 8 for the number of batches. docs/metrics.md says what is rounded. 0 is a hole: not measured.
/// Where the 16 bits are 0 the pair was not measured either, and the rest says why.
using PairCell = std::uint32_t;

/// The schedule of the run does not have the pair.
inline constexpr PairCell pair_not_in_schedule = 1;

/// The link between the two did not open in time, or broke, and was left out.
inline constexpr PairCell pair_link_lost = 2;

/// The other rank was lost: it ended, or did not answer in time.
inline constexpr PairCell pair_rank_lost = 3;

constexpr bool is_measured(PairCell cell) { return cell >> 16 != 0; }

/// A record without batches, or without a time, is a hole. Times below 2^-10 ns and from 2^54 ns on (208 days), ratios
/// from 2^(255/16) on and counts above 507,904 become the nearest ones that there are.
PairCell pair_cell(const PairRecord& record);

/// What of the record is left: the rest is 0, as all of it is where the pair was not measured.
PairRecord record_of(PairCell cell);

}  // namespace leadline
