// SPDX-License-Identifier: Apache-2.0
// What was asked of a file system by hints, and what of it the opened file says.
#pragma once

#include <optional>
#include <vector>

#include "bench/io/measure.hpp"
#include "model/io_result.hpp"
#include "storage/storage.hpp"

namespace leadline::bench::io {

/// Those asked for, in that order, then those that the file has beside them.
std::vector<HintInForce> compare_hints(const storage::Hints& asked, const storage::Hints& granted, bool is_confirmed);

/// Collective: `own` as this rank's file says, nothing where it opened none; the lowest opener's count, on all ranks.
std::vector<HintInForce> hints_in_force(const Stage& stage, const std::optional<storage::Hints>& own);

}  // namespace leadline::bench::io
