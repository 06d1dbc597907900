// SPDX-License-Identifier: Apache-2.0
// Quantiles of counted logarithms.
#include "diagnosis/log_histogram.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace leadline::diagnosis {

/// Most histograms count values that lie within one or two units. What grows does so by half at least, so that it is
/// seldom copied.
void LogHistogram::make_room(std::size_t bin) {
  if (has(bin)) return;
  constexpr auto least = static_cast<std::size_t>(bins_a_unit) / 2;
  const std::size_t more = std::max(least, counts_.size() / 2);
  if (counts_.empty()) first_ = bin;
  const std::size_t first = bin <= first_ ? bin - std::min(bin, more) : first_;
  const std::size_t end = std::max(first_ + counts_.size(), std::min(bin + more, num_bins));
  std::vector<std::uint64_t> wider(end - first);
  std::ranges::copy(counts_, wider.begin() + static_cast<std::ptrdiff_t>(first_ - first));
  first_ = first;
  counts_ = std::move(wider);
}

void LogHistogram::add(const LogHistogram& other) {
  if (other.counts_.empty()) return;
  make_room(other.first_);
  make_room(other.first_ + other.counts_.size() - 1);
  for (std::size_t index = 0; index < other.counts_.size(); ++index) {
    counts_[other.first_ - first_ + index] += other.counts_[index];
  }
}

std::span<std::uint64_t> LogHistogram::all_counts() {
  make_room(0);
  make_room(num_bins - 1);
  return counts_;
}

std::uint64_t LogHistogram::num() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

double LogHistogram::quantile(double q) const {
  const std::uint64_t all = num();
  if (all == 0) return std::numeric_limits<double>::quiet_NaN();
  double wanted = q * static_cast<double>(all);
  for (std::size_t index = 0; index < counts_.size(); ++index) {
    const auto here = static_cast<double>(counts_[index]);
    if (here > 0 && wanted <= here) return lowest + (static_cast<double>(first_ + index) + wanted / here) / bins_a_unit;
    wanted -= here;
  }
  return highest;
}

double LogHistogram::spread(std::uint64_t num_fitted) const {
  const double middle = quantile(0.5);
  if (std::isnan(middle)) return middle;
  // Bins at equal distances on both sides of the median, outwards until they hold half of the values that are free.
  const auto wanted = static_cast<double>(num() + std::min(num_fitted, num())) / 2;
  const std::size_t middle_bin = index_of(middle);
  auto held = static_cast<double>(in(middle_bin));
  std::size_t distance = 0;
  while (held < wanted) {
    ++distance;
    if (middle_bin >= distance) held += static_cast<double>(in(middle_bin - distance));
    held += static_cast<double>(in(middle_bin + distance));
  }
  return 1.4826 * (static_cast<double>(distance) + 0.5) / bins_a_unit;
}

std::uint64_t LogHistogram::num_from(double value) const {
  const std::size_t bin = index_of(value), before = std::min(bin - std::min(bin, first_), counts_.size());
  return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(before), counts_.end(), std::uint64_t{0});
}

}  // namespace leadline::diagnosis
