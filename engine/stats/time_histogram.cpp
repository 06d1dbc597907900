// SPDX-License-Identifier: Apache-2.0
// Buckets by exponent and the highest bits of the fraction.
#include "stats/time_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace leadline::stats {
namespace {

constexpr int fraction_bits = 52;
constexpr int bucket_bits = 7;  // 128 an octave
constexpr std::uint64_t exponent_of_least = 1023 + 5;

constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double TimeHistogram::begin_of(std::size_t bucket) {
  const std::size_t octave = bucket / buckets_per_octave, part = bucket % buckets_per_octave;
  return std::ldexp(least_ns * (1 + static_cast<double>(part) / buckets_per_octave), static_cast<int>(octave));
}

std::size_t TimeHistogram::bucket_of(double time_ns) {
  if (!(time_ns > least_ns)) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(time_ns) >> (fraction_bits - bucket_bits);
  return std::min<std::uint64_t>(bits - (exponent_of_least << bucket_bits), num_buckets - 1);
}

void TimeHistogram::make_room(std::size_t first, std::size_t end) {
  if (counts_.empty()) first_ = first;
  if (first < first_) {
    counts_.insert(counts_.begin(), first_ - first, 0);
    first_ = first;
  }
  if (end > first_ + counts_.size()) counts_.resize(end - first_, 0);
}

void TimeHistogram::add(double time_ns) {
  const std::size_t bucket = bucket_of(time_ns);
  make_room(bucket, bucket + 1);
  ++counts_[bucket - first_];
  ++num_;
  sum_ns_ += time_ns;
  max_ns_ = std::max(max_ns_, time_ns);
}

void TimeHistogram::merge(const TimeHistogram& others) {
  if (others.counts_.empty()) return;
  make_room(others.first_, others.first_ + others.counts_.size());
  for (std::size_t i = 0; i < others.counts_.size(); ++i) counts_[others.first_ + i - first_] += others.counts_[i];
  num_ += others.num_;
  sum_ns_ += others.sum_ns_;
  max_ns_ = std::max(max_ns_, others.max_ns_);
}

double TimeHistogram::max_ns() const { return num_ == 0 ? no_time : max_ns_; }

double TimeHistogram::mean_ns() const { return num_ == 0 ? no_time : sum_ns_ / static_cast<double>(num_); }

double TimeHistogram::quantile_ns(double q) const {
  if (num_ == 0) return no_time;
  const double wanted = q * static_cast<double>(num_);
  double below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto here = static_cast<double>(counts_[i]);
    if (here > 0 && below + here >= wanted) {
      const double low = begin_of(first_ + i), high = begin_of(first_ + i + 1);
      return std::min(max_ns_, low + (high - low) * std::max(wanted - below, 0.0) / here);
    }
    below += here;
  }
  return max_ns_;
}

std::uint64_t TimeHistogram::num_above(double time_ns) const {
  const std::size_t end = bucket_of(time_ns) + 1;
  if (end >= first_ + counts_.size()) return 0;
  const std::size_t begin = end > first_ ? end - first_ : 0;
  return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(begin), counts_.end(), std::uint64_t{0});
}

std::uint64_t TimeHistogram::count_of(std::size_t bucket) const {
  const bool is_there = bucket >= first_ && bucket < first_ + counts_.size();
  return is_there ? counts_[bucket - first_] : 0;
}

TimeHistogram TimeHistogram::of_parts(std::size_t first, std::span<const std::uint64_t> counts, double sum_ns,
                                      double max_ns) {
  TimeHistogram histogram;
  histogram.first_ = first;
  histogram.counts_.assign(counts.begin(), counts.end());
  histogram.num_ = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  histogram.sum_ns_ = sum_ns;
  histogram.max_ns_ = max_ns;
  return histogram;
}

}  // namespace leadline::stats
