// SPDX-License-Identifier: Apache-2.0
// What a parallel file test costs in memory and files.
#pragma once

#include "bench/io/plan.hpp"
#include "model/io_request.hpp"

namespace leadline::bench::io {

/// Of a plan that is complete but for its estimate.
Estimate estimate_of(const IoRequest& request, const Plan& plan);

}  // namespace leadline::bench::io
