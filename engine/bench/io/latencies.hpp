// SPDX-License-Identifier: Apache-2.0
// Quantiles of a histogram of latencies.
#pragma once

#include "model/io_result.hpp"

namespace leadline::bench::io {

/// The q-quantile (0 <= q <= 1) of calls whose least and greatest latency are known: by logarithm between the edges of
/// its bucket, as if the bucket's calls were spread evenly; never outside min to max. NaN without calls.
double latency_quantile_ns(const LatencyHistogram& latencies, double q, double min_ns, double max_ns);

}  // namespace leadline::bench::io
