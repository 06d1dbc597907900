// SPDX-License-Identifier: Apache-2.0
// How rank 0 divides the time limit: evenly among the message sizes still to come, and within one, leaving some for
// what comes behind the random patterns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/clock.hpp"
#include "model/bisection_request.hpp"

namespace leadline::bench::bisection {

/// Its clock begins with it. Times of 0 mean: no limit.
class TimeBudget {
 public:
  explicit TimeBudget(const BisectionRequest& request)
      : limit_s_(request.time_limit_s), num_sizes_left_(request.message_sizes_bytes.size()), start_ns_(now_ns()) {}

  double elapsed_s() const { return 1e-9 * static_cast<double>(now_ns() - start_ns_); }

  void begin_size() {
    size_begin_s_ = elapsed_s();
    size_limit_s_ = limit_s_ > 0 ? share_s(limit_s_ - size_begin_s_, num_sizes_left_) : 0;
    --num_sizes_left_;
  }

  double size_elapsed_s() const { return elapsed_s() - size_begin_s_; }
  bool size_is_over() const { return size_limit_s_ > 0 && size_elapsed_s() >= size_limit_s_; }

  /// For the random patterns of this size: what `num_others` patterns of `pattern_s` leave, but at least half.
  double random_limit_s(std::uint64_t num_others, double pattern_s) const {
    return std::max(size_limit_s_ - static_cast<double>(num_others) * pattern_s, size_limit_s_ / 2);
  }

 private:
  /// Where nothing is left, as little as makes any size end as soon as it can.
  static double share_s(double left_s, std::size_t num) { return std::max(left_s / static_cast<double>(num), 1e-9); }

  double limit_s_;
  std::size_t num_sizes_left_;
  std::uint64_t start_ns_;
  double size_begin_s_ = 0, size_limit_s_ = 0;
};

}  // namespace leadline::bench::bisection
