// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints: the schedule, what it would cost, and which pairs a request asks for.
#pragma once

#include <string>

#include "bench/link/plan.hpp"
#include "model/link_request.hpp"

namespace leadline::output {

/// For a few ranks every round with its pairs; for many, one rank's partners, all of its rounds walked and counted.
std::string plan_text(const LinkRequest& request, const bench::link::Plan& plan);

/// "all pairs of ranks", "pairs across the two halves of the hosts" ...
std::string pairs_text(const LinkRequest& request);

}  // namespace leadline::output
