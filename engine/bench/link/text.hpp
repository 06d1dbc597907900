// SPDX-License-Identifier: Apache-2.0
// A link test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <memory>
#include <string>

#include "bench/link/output.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::link {

/// A block for one slice or a table for several, the slowest pairs with their verdicts, findings, and where the result
/// is (`result_path`; empty or "-" = nowhere to point at). A pure function; ends with a line end.
std::string link_summary(const LinkResult& result, const std::string& result_path);

/// "ok: 16 ranks on 8 hosts, 12 % of all pairs in 4.2 s, no fault", or "bad: " and each fault; with its end.
std::string health_line(const LinkResult& result, const std::string& result_path);

/// One line a round: this round's least, mean and greatest time with their bandwidths, the same times over all
/// rounds of the slice so far, time since the slice began and an estimate of the time it still takes. Units are
/// chosen with the first round of a slice.
std::unique_ptr<Progress> make_line_progress(Direction direction, output::ProgressOutlet outlet);

/// One line that is redrawn at most ten times a second and disappears at the end of a slice.
std::unique_ptr<Progress> make_bar_progress(output::ProgressOutlet outlet);

/// What fits: nothing if quiet, a bar if standard error is a terminal that can move its cursor, lines otherwise.
std::unique_ptr<Progress> make_progress(const LinkRequest& request);

/// For a few ranks every round with its pairs; for many, one rank's partners, all of its rounds walked and counted.
std::string plan_text(const LinkRequest& request, const Plan& plan);

/// "all pairs of ranks", "pairs across the two halves of the hosts" ...
std::string pairs_text(const LinkRequest& request);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(ResultReader& reader);

}  // namespace leadline::bench::link
