// SPDX-License-Identifier: Apache-2.0
// Shows a bisection test while it runs: a line every second or so for logs, a bar for terminals.
#pragma once

#include <cstddef>
#include <memory>

#include "bench/bisection/output.hpp"
#include "model/bisection_request.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::output {

/// The first pattern of a message size, then the latest one every second, and the last: its mean, eBB and interval so
/// far, time since the beginning, and how long it will still take if the spread stays as it is.
std::unique_ptr<bench::bisection::Progress> make_bisection_lines(const BisectionRequest& request, std::size_t num_named,
                                                                 ProgressOutlet outlet);

/// One line that is drawn again and again, and vanishes with the end.
std::unique_ptr<bench::bisection::Progress> make_bisection_bar(const BisectionRequest& request, std::size_t num_named,
                                                               ProgressOutlet outlet);

}  // namespace leadline::output
