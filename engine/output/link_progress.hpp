// SPDX-License-Identifier: Apache-2.0
// Shows a link test while it runs: a line a round for logs, a bar for terminals.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bench/link/output.hpp"
#include "model/request.hpp"

namespace leadline::output {

/// What progress stands on; tests bring their own.
struct ProgressOutlet {
  std::function<void(std::string_view text)> write;
  std::function<int()> width;     ///< of the terminal now, in characters
  std::function<double()> now_s;  ///< any clock that only rises
};

/// One line a round: this round's least, mean and greatest time with their bandwidths, the same times over all
/// rounds of the slice so far, time since the slice began and an estimate of the time it still takes. Units are
/// chosen with the first round of a slice.
std::unique_ptr<bench::link::Progress> make_line_progress(Direction direction, ProgressOutlet outlet);

/// One line that is drawn again at most ten times a second and vanishes with the end of a slice.
std::unique_ptr<bench::link::Progress> make_bar_progress(ProgressOutlet outlet);

/// What fits: nothing if quiet, a bar if standard error is a terminal that can move its cursor, lines otherwise.
std::unique_ptr<bench::link::Progress> make_progress(const LinkRequest& request);

}  // namespace leadline::output
