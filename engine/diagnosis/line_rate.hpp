// SPDX-License-Identifier: Apache-2.0
// Compares pairs between hosts with what their adapters carry: where all are slow alike, no other pair shows it.
#pragma once

#include <cstdint>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"
#include "model/provenance.hpp"

namespace leadline::diagnosis {

/// How the note about it begins.
inline constexpr const char* reaches_of_line_rate = "alone a pair between hosts reaches";

/// Less of the line rate than this is told.
inline constexpr double least_share_of_line_rate = 0.8;

/// Collective as the rows (ln ns) are: adds to what was found in them which share of the line rate the pairs between
/// hosts reach that were chosen by chance and measured alone (`retest`; empty = none were). Nothing for messages of
/// less than 1 MiB, whose time is not that of the line, with fewer than three pairs, or where they reach more than the
/// line rate, which then is not that of hardware.
void compare_with_line_rate(const LineRate& line_rate, const Rows& rows, const Layout& layout, const Retest& retest,
                            std::uint64_t message_size_bytes, Diagnosis& found);

}  // namespace leadline::diagnosis
