// SPDX-License-Identifier: Apache-2.0
// The distributions behind the scatter, and the batches of a measurement.
#include "synthetic/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/summary.hpp"

namespace leadline::synthetic {
namespace {

/// The streams of hosts and ranks; those of rows are 4 and above.
constexpr std::uint64_t hosts_stream = 1, ranks_stream = 2;

/// Beyond it a normal number is rarer than the tables know.
constexpr double most_sigmas = 8;

double normal_below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

/// z of x under the log-normal distribution around 1.
double sigmas(double x, double sigma) {
  if (sigma > 0) return std::log(x) / sigma;
  return x < 1 ? -HUGE_VAL : HUGE_VAL;
}

/// Made once: it is the same for all.
const QuantileTable& normal_table() {
  static const QuantileTable table(QuantileTable::Tails{normal_below, [](double z) { return normal_below(-z); }},
                                   -most_sigmas, most_sigmas);
  return table;
}

/// P(S > s) of the spikes.
double spike_above(double s, double scale, double exponent, double most) {
  if (s < scale) return 1;
  if (s >= most) return 0;
  const double cut = std::pow(most / scale, -exponent);
  return (std::pow(s / scale, -exponent) - cut) / (1 - cut);
}

QuantileTable batch_table(const Noise& noise) {
  const auto spike = [=](double x) {
    return spike_above(x - 1, noise.spike_scale, noise.spike_exponent, noise.spike_most);
  };
  const double p = noise.spike_probability;
  return {{[=](double x) { return (1 - p) * normal_below(sigmas(x, noise.batch)) + p * (1 - spike(x)); },
           [=](double x) { return (1 - p) * normal_below(-sigmas(x, noise.batch)) + p * spike(x); }},
          std::exp(-most_sigmas * noise.batch) / 2,
          std::exp(most_sigmas * noise.batch) * 2 + noise.spike_most};
}

/// P(first <= Binomial(n, x) <= last) for 0 < x < 1.
double binomial_between(std::uint32_t n, std::uint32_t first, std::uint32_t last, double x) {
  double probability = std::pow(x, first) * std::pow(1 - x, n - first);
  for (std::uint32_t i = 0; i < first; ++i) probability *= static_cast<double>(n - i) / (first - i);
  double total = 0;
  for (std::uint32_t i = first; i <= last; ++i) {
    total += probability;
    probability *= static_cast<double>(n - i) / (i + 1) * (x / (1 - x));
  }
  return total;
}

/// The lower middle one of n uniform numbers: the k-th smallest is at most x where at least k of them are.
QuantileTable low_middle_table(std::uint32_t n) {
  const std::uint32_t k = (n + 1) / 2;
  return {{[=](double x) { return binomial_between(n, k, n, x); },
           [=](double x) { return binomial_between(n, 0, k - 1, x); }},
          0,
          1};
}

const QuantileTable& usual_low_middle_table() {
  static const QuantileTable table = low_middle_table(Machine{}.num_batches);
  return table;
}

/// The greatest of n uniform numbers.
QuantileTable greatest_table(std::uint32_t n) {
  return QuantileTable(QuantileTable::Quantiles{[=](double below) { return std::pow(below, 1.0 / n); },
                                                [=](double above) { return std::exp(std::log1p(-above) / n); }});
}

/// Relative precision of the bisection.
constexpr double precision = 1e-12;

/// Least x from which on `is_beyond` holds.
template <typename Predicate>
double first_beyond(double low, double high, const Predicate& is_beyond) {
  if (is_beyond(low)) return low;
  while (high - low > precision * (high > -low ? high : -low)) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    (is_beyond(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Noise no_noise() {
  Noise none;
  none.host = none.rank = none.pair = none.batch = 0;
  none.spike_probability = none.disturbed_probability = 0;
  return none;
}

NoiseModel::NoiseModel(const Noise& noise, std::uint64_t seed, std::uint32_t num_batches)
    : noise_(noise),
      seed_(mix64(seed + splitmix64_increment)),
      num_batches_(num_batches),
      num_below_((num_batches - 1) / 2),
      num_above_((num_batches - 1) / 2),
      is_odd_(num_batches % 2 == 1),
      pair_(normal_table().mapped([&](double z) { return std::exp(noise.pair * z); })),
      batch_(batch_table(noise)),
      low_middle_(num_batches == Machine{}.num_batches ? usual_low_middle_table() : low_middle_table(num_batches)),
      // The upper middle one is the least of those above the lower: the greatest, seen from 1.
      rest_above_(greatest_table(num_above_ + 1)) {}

double NoiseModel::of_host(std::uint32_t host) const {
  return std::exp(noise_.host * normal_table()(uniform_of(number(number(seed_, hosts_stream), host + 1U))));
}

double NoiseModel::of_rank(std::uint32_t rank) const {
  return std::exp(noise_.rank * normal_table()(uniform_of(number(number(seed_, ranks_stream), rank + 1U))));
}

double NoiseModel::disturbed(double u) const {
  const double cut = std::pow(noise_.spike_most / noise_.disturbed_scale, -noise_.spike_exponent);
  return 1 + noise_.disturbed_scale * std::pow(cut + u * (1 - cut), -1 / noise_.spike_exponent);
}

stats::Summary NoiseModel::batches(std::uint64_t batches_key) const {
  const Middle middle = middle_batches(batches_key);
  stats::Summary result;
  result.count = num_batches_;
  const double low = batch_(middle.low), high = batch_(middle.high);
  result.median = high - (high - low) * 0.5;
  double min = low, max = high, next = num_batches_ > 1 ? low : high, sum = is_odd_ ? low : low + high;
  std::uint64_t n = 2;
  // Given the middle ones, the others are independent and uniform on either side.
  for (std::uint32_t i = 0; i < num_below_; ++i) {
    const double factor = batch_(middle.low * uniform_of(number(batches_key, ++n)));
    min = std::min(min, factor);
    sum += factor;
  }
  for (std::uint32_t i = 0; i < num_above_; ++i) {
    const double factor = batch_(1 - (1 - middle.high) * uniform_of(number(batches_key, ++n)));
    next = std::max(next, std::min(max, factor));
    max = std::max(max, factor);
    sum += factor;
  }
  result.min = min;
  result.max = max;
  result.mean = std::clamp(sum / num_batches_, min, max);
  for (const auto& [q, value] : stats::summary_quantiles) {
    if (q <= 0.5) continue;
    const stats::QuantilePosition at = stats::quantile_position(num_batches_, q);
    const bool is_known = at.low + 2 >= num_batches_;  // it lies between the greatest two
    result.*value = !is_known ? 1 : at.high == at.low ? max : max - (max - next) * (1 - at.fraction);
  }
  return result;
}

void NoiseModel::each_batch(std::uint64_t batches_key, std::span<double> factors) const {
  const Middle middle = middle_batches(batches_key);
  std::size_t at = 0;
  factors[at++] = batch_(middle.low);
  if (!is_odd_) factors[at++] = batch_(middle.high);
  std::uint64_t n = 2;
  for (std::uint32_t i = 0; i < num_below_; ++i)
    factors[at++] = batch_(middle.low * uniform_of(number(batches_key, ++n)));
  for (std::uint32_t i = 0; i < num_above_; ++i)
    factors[at++] = batch_(1 - (1 - middle.high) * uniform_of(number(batches_key, ++n)));
}

double QuantileTable::tail_at(std::uint64_t node) {
  return std::bit_cast<double>((first_node + node) << (52 - bits_a_cell));
}

QuantileTable::QuantileTable(const Tails& tails, double least, double most) : nodes_(2 * num_nodes) {
  // Nodes ascend on one side and descend on the other: each is the bracket's end for the next.
  double low = least, high = most;
  for (std::uint64_t node = 0; node < num_nodes; ++node) {
    const double tail = tail_at(node);
    low = first_beyond(low, most, [&](double x) { return tails.below(x) >= tail; });
    high = first_beyond(least, high, [&](double x) { return tails.above(x) <= tail; });
    nodes_[node] = low;
    nodes_[num_nodes + node] = high;
  }
}

QuantileTable::QuantileTable(const Quantiles& quantiles) : nodes_(2 * num_nodes) {
  for (std::uint64_t node = 0; node < num_nodes; ++node) {
    nodes_[node] = quantiles.of_below(tail_at(node));
    nodes_[num_nodes + node] = quantiles.of_above(tail_at(node));
  }
}

QuantileTable QuantileTable::mapped(const std::function<double(double x)>& f) const {
  QuantileTable result = *this;
  for (double& x : result.nodes_) x = f(x);
  return result;
}

}  // namespace leadline::synthetic
