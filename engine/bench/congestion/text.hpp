// SPDX-License-Identifier: Apache-2.0
// A congestion test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <memory>
#include <string>

#include "bench/congestion/hdf5_reader.hpp"
#include "bench/congestion/output.hpp"
#include "bench/congestion/plan.hpp"
#include "bench/congestion/request.hpp"
#include "bench/congestion/result.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::congestion {

/// For standard output, at the end: what grows most under load; a table for each test; what shares how much with the
/// load; the loads; findings. `path`: where the result lies, empty = nowhere.
std::string congestion_summary(const CongestionResult& result, const std::string& path);

/// One sentence.
std::string verdict_text(const CongestionResult& result);

/// For --dry-run.
std::string congestion_plan_text(const CongestionRequest& request, const Plan& plan);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(const Hdf5Reader& reader);

/// On standard error; null with --quiet. `num_phases`: of a round.
std::unique_ptr<Progress> make_congestion_progress(const CongestionRequest& request, std::size_t num_phases);

/// One line a round.
std::unique_ptr<Progress> make_congestion_lines(const CongestionRequest& request, output::ProgressOutlet outlet);

/// One line that is redrawn, and disappears at the end.
std::unique_ptr<Progress> make_congestion_bar(const CongestionRequest& request, std::size_t num_phases,
                                              output::ProgressOutlet outlet);

}  // namespace leadline::bench::congestion
