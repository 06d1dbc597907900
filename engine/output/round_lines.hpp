// SPDX-License-Identifier: Apache-2.0
// Progress of a run in rounds, in a log.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "output/progress_outlet.hpp"

namespace leadline::output {

/// A line for some of the rounds: see ProgressMarks.
class RoundLines {
 public:
  RoundLines(std::uint32_t num_rounds, ProgressOutlet outlet) : num_rounds_(num_rounds), outlet_(std::move(outlet)) {}

  /// `round`: from 0.
  void round_ends(std::uint32_t round, double elapsed_s);
  void pair_lost(int low, int high, const std::string& why) { outlet_.write(line_of_lost_pair(low, high, why)); }

 private:
  std::uint32_t num_rounds_;
  ProgressOutlet outlet_;
  ProgressMarks marks_;
};

}  // namespace leadline::output
