// SPDX-License-Identifier: Apache-2.0
// Guesses from the spread so far.
#include "output/bisection_remaining.hpp"

#include <algorithm>
#include <cmath>

#include "bench/bisection/stopping.hpp"
#include "bench/plan.hpp"

namespace leadline::output {
namespace {

std::uint64_t random_patterns_for(const BisectionRequest& request, const Interval& so_far) {
  if (!(request.precision > 0) || !std::isfinite(so_far.half_width)) return request.rounds;
  const double ratio = so_far.half_width / (so_far.mean * request.precision);
  const double num =
      std::min(std::ceil(static_cast<double>(so_far.num) * ratio * ratio), static_cast<double>(request.rounds));
  const std::uint64_t least = std::max(bench::bisection::Stopping::min_patterns, so_far.num);
  return std::min(std::max(static_cast<std::uint64_t>(num), least), request.rounds);
}

}  // namespace

BisectionRemaining::BisectionRemaining(const BisectionRequest& request, std::size_t num_named)
    : request_(request),
      has_random_(std::find(request.patterns.begin(), request.patterns.end(), name_of(PatternKind::random)) !=
                  request.patterns.end()),
      num_others_(num_named * static_cast<std::uint64_t>(request.repeat) + request.num_worst_steps) {}

void BisectionRemaining::size_begins(int size_index) {
  size_index_ = size_index;
  size_began_s_ = last_s_;
  num_random_ = has_random_ ? request_.rounds : 0;
  num_random_done_ = num_others_done_ = 0;
}

/// Of the sizes that are still to come, as shares of this one.
double BisectionRemaining::later_sizes() const {
  const bench::CostAssumption assumption;
  const auto& sizes = request_.message_sizes_bytes;
  const auto now = static_cast<std::size_t>(size_index_);
  double sum = 0;
  for (std::size_t size = now + 1; size < sizes.size(); ++size) {
    sum += bench::message_s(assumption, sizes[size]) / bench::message_s(assumption, sizes[now]);
  }
  return sum;
}

void BisectionRemaining::pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) {
  last_s_ = elapsed_s;
  if (summary.place.kind == PatternKind::random) {
    ++num_random_done_;
    num_random_ = random_patterns_for(request_, so_far);
  } else {
    ++num_others_done_;
    num_random_ = num_random_done_;  // there will be no more
  }
  const double pattern_s = (elapsed_s - size_began_s_) / static_cast<double>(num_done());
  const auto take_s = [&](std::uint64_t all, std::uint64_t done) {
    return (static_cast<double>(all - std::min(all, done)) + static_cast<double>(all) * later_sizes()) * pattern_s;
  };
  left_s_ = take_s(num_random_, num_random_done_) + take_s(num_others_, num_others_done_);
  if (request_.time_limit_s > 0) left_s_ = std::min(left_s_, std::max(request_.time_limit_s - elapsed_s, 0.0));
}

}  // namespace leadline::output
