// SPDX-License-Identifier: Apache-2.0
// Shows a link test while it runs: a line a round for logs, a bar for terminals.
#pragma once

#include <memory>

#include "bench/link/output.hpp"
#include "model/link_request.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::output {

/// One line a round: this round's least, mean and greatest time with their bandwidths, the same times over all
/// rounds of the slice so far, time since the slice began and an estimate of the time it still takes. Units are
/// chosen with the first round of a slice.
std::unique_ptr<bench::link::Progress> make_line_progress(Direction direction, ProgressOutlet outlet);

/// One line that is redrawn at most ten times a second and disappears at the end of a slice.
std::unique_ptr<bench::link::Progress> make_bar_progress(ProgressOutlet outlet);

/// What fits: nothing if quiet, a bar if standard error is a terminal that can move its cursor, lines otherwise.
std::unique_ptr<bench::link::Progress> make_progress(const LinkRequest& request);

}  // namespace leadline::output
