// SPDX-License-Identifier: Apache-2.0
// How long a bisection test will still take, from what its interval is like so far.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/bisection_request.hpp"
#include "model/bisection_result.hpp"

namespace leadline::output {

/// All sizes, at the pace of the present one: later sizes are taken to need as many patterns, and longer ones for
/// larger messages. The time limit ends it all.
class BisectionRemaining {
 public:
  BisectionRemaining(const BisectionRequest& request, std::size_t num_named);

  void size_begins(int size_index);
  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s);

  /// How many patterns of this size there will be. A guess: the half-width goes with the root of their number.
  std::uint64_t num_patterns() const { return num_random_ + num_others_; }
  std::uint64_t num_done() const { return num_random_done_ + num_others_done_; }

  double left_s() const { return left_s_; }

 private:
  double later_sizes() const;

  const BisectionRequest request_;
  const bool has_random_;
  const std::uint64_t num_others_;
  int size_index_ = 0;
  double size_began_s_ = 0, last_s_ = 0, left_s_ = 0;
  std::uint64_t num_random_ = 0, num_random_done_ = 0, num_others_done_ = 0;
};

}  // namespace leadline::output
