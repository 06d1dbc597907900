// SPDX-License-Identifier: Apache-2.0
// Times of any number of operations in bounded memory: counts by time, in buckets as fine as what is told of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace leadline::stats {

/// An octave of times has 128 buckets of equal width, so a bucket is at most 1/128 as wide as the times in it are long.
/// The first bucket holds all shorter times than 32 ns, too, the last all longer ones than 137 s.
class TimeHistogram {
 public:
  static constexpr std::size_t buckets_per_octave = 128, num_octaves = 32;
  static constexpr std::size_t num_buckets = buckets_per_octave * num_octaves;
  static constexpr double least_ns = 32;

  using Counts = std::array<std::uint64_t, num_buckets>;

  /// Where the bucket begins; that of num_buckets is where the last one ends.
  static double begin_of(std::size_t bucket);
  static std::size_t bucket_of(double time_ns);

  void add(double time_ns);

  /// As if all of the others had been added here.
  void merge(const TimeHistogram& others);

  std::uint64_t num() const { return num_; }
  double sum_ns() const { return sum_ns_; }
  double max_ns() const;   ///< NaN without times, as the others
  double mean_ns() const;  ///< of the times themselves

  /// The time below which a share `q` of them lies; within a bucket they count as evenly spread.
  double quantile_ns(double q) const;

  /// How many are longer than this, by buckets.
  std::uint64_t num_above(double time_ns) const;

  std::uint64_t count_of(std::size_t bucket) const;

  // For those that pass it on: the counts from bucket `first()` on, and the rest.
  std::size_t first() const { return first_; }
  std::span<const std::uint64_t> counts() const { return counts_; }
  static TimeHistogram of_parts(std::size_t first, std::span<const std::uint64_t> counts, double sum_ns, double max_ns);

 private:
  void make_room(std::size_t first, std::size_t end);

  std::size_t first_ = 0;              ///< of counts_
  std::vector<std::uint64_t> counts_;  ///< from the first bucket that was ever used to the last
  std::uint64_t num_ = 0;
  double sum_ns_ = 0, max_ns_ = 0;
};

}  // namespace leadline::stats
