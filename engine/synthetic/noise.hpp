// SPDX-License-Identifier: Apache-2.0
// How times scatter: factors of ends, pairs and batches, each a function of the seed and its owner, so that any can be
// computed alone, in any order and on any thread.
#pragma once

#include <cstdint>
#include <span>

#include "core/random.hpp"
#include "synthetic/machine.hpp"
#include "synthetic/quantile_table.hpp"

namespace leadline::synthetic {

/// The batches of one measurement, as factors of the pair's usual time.
struct BatchFactors {
  double min = 1, median = 1, mean = 1, p99 = 1, max = 1;
};

class NoiseModel {
 public:
  NoiseModel(const Noise& noise, std::uint64_t seed, std::uint32_t num_batches);

  double of_host(std::uint32_t host) const;
  double of_rank(std::uint32_t rank) const;

  /// Random bits of a row, and of a pair in it.
  std::uint64_t row_key(std::uint32_t from) const { return mix64(seed_ + (from + 4U) * splitmix64_increment); }
  static std::uint64_t pair_key(std::uint64_t row_key, std::uint32_t to) { return number(row_key, to + 1U); }

  /// Of the pair; never changes.
  double of_pair(std::uint64_t pair_key) const { return pair_(uniform_of(number(pair_key, 1))); }

  /// Of all batches in the main test: 1 but for rare pairs.
  double of_disturbance(std::uint64_t pair_key) const {
    const double u = uniform_of(number(pair_key, 2));
    return u < noise_.disturbed_probability ? disturbed(u / noise_.disturbed_probability) : 1;
  }

  /// Random bits of a measurement of the pair: attempt 0 is the main test, others are retests.
  static std::uint64_t batches_key(std::uint64_t pair_key, std::uint32_t attempt) {
    return number(pair_key, attempt + 3U);
  }

  /// The median of the batches alone; the same number as in batches().
  double median(std::uint64_t batches_key) const { return middle(middle_batches(batches_key)); }

  /// Statistics as stats::summarize defines them.
  BatchFactors batches(std::uint64_t batches_key) const;

  /// The batches themselves, num_batches of them, in no particular order.
  void each_batch(std::uint64_t batches_key, std::span<double> factors) const;

  /// The n-th number of a stream.
  static std::uint64_t number(std::uint64_t key, std::uint64_t n) { return mix64(key + n * splitmix64_increment); }

 private:
  /// The two order statistics around the median, as uniform numbers; the same one twice where batches are odd.
  struct Middle {
    double low, high;
  };

  Middle middle_batches(std::uint64_t batches_key) const {
    const double low = low_middle_(uniform_of(number(batches_key, 1)));
    if (is_odd_) return {low, low};
    return {low, 1 - (1 - low) * rest_above_(uniform_of(number(batches_key, 2)))};
  }
  double middle(const Middle& middle) const {
    const double low = batch_(middle.low), high = batch_(middle.high);
    return high - (high - low) * 0.5;
  }
  double disturbed(double u) const;

  Noise noise_;
  std::uint64_t seed_;
  std::uint32_t num_batches_, num_below_, num_above_;  // batches, those on either side of the middle
  bool is_odd_;
  QuantileTable pair_, batch_;
  QuantileTable low_middle_;  // the lower middle of num_batches uniform numbers
  QuantileTable rest_above_;  // (1 - its successor) / (1 - it)
};

}  // namespace leadline::synthetic
