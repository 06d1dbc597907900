// SPDX-License-Identifier: Apache-2.0
// From batches to times and bandwidths, and the row that a rank keeps of its pairs.
#include "model/samples.hpp"

#include <algorithm>
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

PairRow::PairRow(std::size_t num_ranks)
    : count(num_ranks),
      time_ns_min(num_ranks),
      time_ns_median(num_ranks),
      time_ns_mean(num_ranks),
      time_ns_p99(num_ranks),
      time_ns_max(num_ranks) {}

void PairRow::set(std::size_t partner, const PairRecord& record) {
  count.at(partner) = record.count;
  time_ns_min[partner] = record.time_ns_min;
  time_ns_median[partner] = record.time_ns_median;
  time_ns_mean[partner] = record.time_ns_mean;
  time_ns_p99[partner] = record.time_ns_p99;
  time_ns_max[partner] = record.time_ns_max;
}

PairRecord PairRow::at(std::size_t partner) const {
  return {count.at(partner),     time_ns_min[partner], time_ns_median[partner],
          time_ns_mean[partner], time_ns_p99[partner], time_ns_max[partner]};
}

const std::vector<double>& PairRow::times_ns(TimeStatistic statistic) const {
  switch (statistic) {
    case TimeStatistic::min:
      return time_ns_min;
    case TimeStatistic::median:
      return time_ns_median;
    case TimeStatistic::mean:
      return time_ns_mean;
    case TimeStatistic::p99:
      return time_ns_p99;
    case TimeStatistic::max:
      break;
  }
  return time_ns_max;
}

void PairRow::clear() {
  std::fill(count.begin(), count.end(), 0U);
  for (auto* times : {&time_ns_min, &time_ns_median, &time_ns_mean, &time_ns_p99, &time_ns_max}) {
    std::fill(times->begin(), times->end(), 0.0);
  }
}

}  // namespace leadline
