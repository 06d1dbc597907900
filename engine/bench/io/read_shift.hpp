// SPDX-License-Identifier: Apache-2.0
// Whose objects ranks read where reads are shifted, so that they come from another host's caches or from none.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/rank_layout.hpp"

namespace leadline::bench::io {

/// The same shift in 0 .. num_ranks - 1. Throws Error(bad_command_line) where every rank would read its own.
std::int64_t shift_by_ranks(std::int64_t by, int num_ranks);

/// By rank: the rank in the same position on the host `by` hosts further on. Where hosts have unequal numbers of ranks,
/// ranks in the order of hosts are shifted as a whole, so far that none reads what its own host wrote. Throws
/// Error(bad_command_line) where there is one host, the shift leads back to it, or one host has more ranks than all
/// others together.
std::vector<std::int32_t> reads_by_hosts(std::int64_t by, const RankLayout& rank_layout);

}  // namespace leadline::bench::io
