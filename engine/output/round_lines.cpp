// SPDX-License-Identifier: Apache-2.0
// How far it is, and for how long.
#include "output/round_lines.hpp"

#include <fmt/format.h>

#include "output/table.hpp"

namespace leadline::output {

void RoundLines::round_ends(std::uint32_t round, double elapsed_s) {
  const std::uint32_t done = round + 1;
  if (!marks_.passes(static_cast<double>(done) / num_rounds_)) return;
  outlet_.write(fmt::format("round {}/{}: {} elapsed, {} left\n", done, num_rounds_, format_duration(elapsed_s),
                            format_duration(time_left_s(done, num_rounds_, elapsed_s))));
}

}  // namespace leadline::output
