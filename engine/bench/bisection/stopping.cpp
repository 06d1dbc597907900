// SPDX-License-Identifier: Apache-2.0
// Checks the interval at increasing distances, and the number of patterns and the clock always.
#include "bench/bisection/stopping.hpp"

namespace leadline::bench::bisection {

Stopping::Stopping(const BisectionRequest& request) : rounds_(request.rounds), precision_(request.precision) {}

void Stopping::add(double bytes_per_s_mean) {
  if (means_.num() == next_look_) next_look_ += next_look_ / 4;
  means_.add(bytes_per_s_mean);
}

StopReason Stopping::decide(double elapsed_s, double limit_s) const {
  if (means_.num() == next_look_ && interval().half_width < precision_ * means_.mean()) return StopReason::precision;
  if (means_.num() >= rounds_) return StopReason::rounds;
  if (limit_s > 0 && elapsed_s >= limit_s) return StopReason::time_limit;
  return StopReason::not_stopped;
}

Interval Stopping::interval() const {
  const stats::MeanInterval interval = stats::mean_interval(means_);
  return {interval.num, interval.mean, interval.half_width};
}

}  // namespace leadline::bench::bisection
