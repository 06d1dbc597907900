// SPDX-License-Identifier: Apache-2.0
// A bisection test as text for people: its plan, its progress and its summary.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "bench/bisection/hdf5_reader.hpp"
#include "bench/bisection/output.hpp"
#include "bench/bisection/plan.hpp"
#include "core/units.hpp"
#include "model/bisection_request.hpp"
#include "model/bisection_result.hpp"
#include "output/file_info.hpp"

namespace leadline::output {

/// For standard output, at the end: per message size the eBB with its interval, its share of pairs alone and why there
/// were no more patterns; the distribution over connections; named patterns; the worst one found; what is slow;
/// findings. `path`: where the result lies, empty = nowhere.
std::string bisection_summary(const BisectionResult& result, const std::string& path);

/// On standard error; mute with --quiet. `num_named`: named patterns of a message size, each counted once.
std::unique_ptr<bench::bisection::Progress> make_bisection_progress(const BisectionRequest& request,
                                                                    std::size_t num_named);

/// For --dry-run.
std::string bisection_plan_text(const BisectionRequest& request, const bench::bisection::Plan& plan);

/// "3.214 ± 0.031"; the mean alone where there is no interval, "-" where nothing was measured.
std::string plus_minus(const Interval& interval, const Unit& unit);

/// A ratio: "0.830".
std::string share_text(double share);

/// Half width / mean.
double relative_width(const Interval& interval);

/// That of the size with this index; null where no random pattern was measured.
const BisectionSummary* summary_of(const BisectionResult& result, int size_index);

bool has_random_patterns(const BisectionResult& result);

/// The eBB of all sizes goes in one unit, and so does everything beside it.
Unit unit_of_bandwidths(const BisectionResult& result);

/// For `leadline info`; reads as much of the result as that takes.
ResultInfo info_of(const result::bisection::Hdf5Reader& reader);

}  // namespace leadline::output
