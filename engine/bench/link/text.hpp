// SPDX-License-Identifier: Apache-2.0
// A link test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/link/output.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "core/terminal.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::link {

/// The verdict, who took part, a row for each class of pairs and message size, findings, and where the result is
/// (`result_path`; empty or "-" = nowhere to point at). With LinkRequest::verbose all quantiles, each repeat, the
/// slowest pairs and all of each note, too. The table of classes has at most `width` columns, or 48 if that is more.
/// A pure function; ends with a line end.
std::string link_summary(const LinkResult& result, const std::string& result_path, int width = usual_text_width);

/// "ok: 16 ranks on 8 hosts, 12 % of all pairs in 4.2 s, no fault", or "bad: " and each fault; with its end.
std::string health_line(const LinkResult& result, const std::string& result_path);

/// One line a round: this round's least, mean and greatest time with their bandwidths, the same times over all
/// rounds of the slice so far, time since the slice began and an estimate of the time it still takes. Units are
/// chosen with the first round of a slice.
std::unique_ptr<Progress> make_line_progress(Direction direction, output::ProgressOutlet outlet);

/// A line after the first round, and at 1, 2, 5, 10, 20, 30 ... 100 % of all rounds of all slices, which are counted by
/// the time that their messages are assumed to take.
std::unique_ptr<Progress> make_mark_progress(const LinkRequest& request, output::ProgressOutlet outlet);

/// One line from the begin of a slice on, of `num_rounds` rounds, that is redrawn at most ten times a second and
/// disappears at the end of a slice.
std::unique_ptr<Progress> make_bar_progress(const LinkRequest& request, std::int64_t num_rounds,
                                            output::ProgressOutlet outlet);

/// What fits: nothing if quiet, a bar if standard error is a terminal that can move its cursor, else lines: one a round
/// if verbose, a few otherwise. `num_rounds`: of a slice.
std::unique_ptr<Progress> make_progress(const LinkRequest& request, std::int64_t num_rounds);

/// For a few ranks every round with its pairs; for many, one rank's partners, all of its rounds walked and counted.
std::string plan_text(const LinkRequest& request, const Plan& plan);

/// "all pairs of ranks", "pairs across the two halves of the hosts" ...
std::string pairs_text(const LinkRequest& request);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(ResultReader& reader);

}  // namespace leadline::bench::link
