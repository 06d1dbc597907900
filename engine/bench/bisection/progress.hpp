// SPDX-License-Identifier: Apache-2.0
// Shows a bisection test while it runs, as a line every second or so for logs or a bar for terminals, and estimates
// what remains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bench/bisection/output.hpp"
#include "model/bisection_request.hpp"
#include "model/bisection_result.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::output {

/// The first pattern of a message size, then the latest one every second, and the last: its mean, eBB and interval so
/// far, time since the beginning, and how long it will still take if the spread stays as it is.
std::unique_ptr<bench::bisection::Progress> make_bisection_lines(const BisectionRequest& request, std::size_t num_named,
                                                                 ProgressOutlet outlet);

/// One line that is redrawn, and disappears at the end.
std::unique_ptr<bench::bisection::Progress> make_bisection_bar(const BisectionRequest& request, std::size_t num_named,
                                                               ProgressOutlet outlet);

/// All sizes, at the pace of the present one: later sizes are assumed to need as many patterns, and longer ones for
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
