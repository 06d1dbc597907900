// SPDX-License-Identifier: Apache-2.0
// The share of the line rate, and the sentence about it.
#include "diagnosis/line_rate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/units.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::uint64_t least_size_bytes = 1 << 20;
constexpr std::size_t least_pairs = 3;
constexpr double most_share = 1.2;  // the kernel tells 10 Gb/s of virtual adapters that know no limit

std::string sentence(const LineRateShare& reached) {
  std::string share = fmt::format("{} {:.3g} % of the line rate of its adapter ({})", reaches_of_line_rate,
                                  100 * reached.share, reached.adapter);
  if (reached.share >= least_share_of_line_rate) return share;
  return share + fmt::format(
                     ": {}. Other pairs do not show it where all are alike: look at speed, MTU and driver of the "
                     "adapters. One message at a time may not fill a fast network: compare with --direction "
                     "unidirectional",
                     format_bandwidth(reached.bytes_per_s));
}

}  // namespace

void compare_with_line_rate(const LineRate& line_rate, const Rows& rows, const Layout& layout, const Retest& retest,
                            std::uint64_t message_size_bytes, Diagnosis& found) {
  if (!(line_rate.bytes_per_s > 0) || message_size_bytes < least_size_bytes || !retest) return;
  const std::vector<OrderedPair> pairs = random_pairs(rows, layout, num_by_chance);
  std::vector<double> times_ns;
  const std::vector<RetestTimes> measured = retest(pairs, Load::alone);
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    const bool is_between = layout.host_of[pairs[index].from] != layout.host_of[pairs[index].to];
    if (is_between && !std::isnan(measured[index].median_ns)) times_ns.push_back(measured[index].median_ns);
  }
  if (times_ns.size() < least_pairs) return;
  const std::size_t num = times_ns.size();
  const double bytes_per_s = 1e9 * static_cast<double>(message_size_bytes) / middle_of(std::move(times_ns)).median;
  const LineRateShare reached{line_rate.adapter, line_rate.bytes_per_s, bytes_per_s,
                              bytes_per_s / line_rate.bytes_per_s, num};
  if (reached.share > most_share) return;
  found.line_rate = reached;
  found.notes.push_back(sentence(reached));
}

}  // namespace leadline::diagnosis
