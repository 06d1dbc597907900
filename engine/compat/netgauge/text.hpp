// SPDX-License-Identifier: Apache-2.0
// The lines that Netgauge prints for ebb, each a pure function of what is in it.
#pragma once

#include <memory>
#include <string>

#include "bench/bisection/output.hpp"
#include "bench/bisection/result.hpp"
#include "compat/netgauge/options.hpp"
#include "compat/process.hpp"
#include "schedule/pattern.hpp"

namespace leadline::compat::netgauge {

// Times are those of all exchanges of a round, in us. Bandwidths are bytes per us, so MB/s of 10^6 bytes; Netgauge
// called the same numbers MiB/s. All lines that are not Netgauge's begin with #, its sign for comments.

/// What stands above all rounds.
std::string opening(const Shown& shown, const bench::bisection::BisectionResult& so_far);

/// What stands above a round: which it is, and its pairs, as far as they are shown.
std::string above_round(const Shown& shown, const bench::bisection::BisectionRequest& request,
                        const bench::bisection::PatternPosition& position, const schedule::Pattern& pattern);

/// The line of a round, and below it how far the interval is, as far as that is shown.
std::string round_lines(const Shown& shown, const bench::bisection::BisectionRequest& request,
                        const bench::bisection::PatternSummary& round, const bench::bisection::Interval& so_far);

/// Below all rounds of a size: buckets, harmonic mean, and effective bisection bandwidth as published.
std::string ending(const Shown& shown, const bench::bisection::BisectionRequest& request,
                   const bench::bisection::BisectionSummary& size);

std::string version_line(const std::string& leadline_version);

/// Prints what stands above all rounds at once, and each round as soon as it is measured.
std::unique_ptr<bench::bisection::Progress> make_progress(const bench::bisection::BisectionResult& so_far, Shown shown,
                                                          Outlet outlet);

}  // namespace leadline::compat::netgauge
