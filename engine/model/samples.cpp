// SPDX-License-Identifier: Apache-2.0
// From batches to times and bandwidths.
#include "model/samples.hpp"

#include <limits>

namespace leadline {

double message_time_ns(const Sample& sample, Direction direction, Path path) {
  if (sample.num_messages == 0) return std::numeric_limits<double>::quiet_NaN();
  const bool there_and_back = direction == Direction::semidirectional && path == Path::to_partner;
  const double num_ways = static_cast<double>(sample.num_messages) * (there_and_back ? 2 : 1);
  return static_cast<double>(sample.elapsed_ns) / num_ways;
}

double bandwidth_bytes_per_s(double message_time_ns, std::uint64_t message_size_bytes, Direction direction) {
  if (!(message_time_ns > 0)) return std::numeric_limits<double>::quiet_NaN();
  const double num_directions = direction == Direction::bidirectional ? 2 : 1;
  return num_directions * static_cast<double>(message_size_bytes) / (message_time_ns * 1e-9);
}

}  // namespace leadline
