// SPDX-License-Identifier: Apache-2.0
// Logarithmic codes of times and ratios; numbers of batches with five significant bits.
#include "model/pair_cell.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace leadline {
namespace {

constexpr double medians_an_octave = 1024, ratios_an_octave = 16;
constexpr double lowest_octave = -10;  // of a nanosecond
constexpr double max_median = 0xffff, max_ratio = 0xff;

/// 1 to 31 as they are; above that four bits behind the leading one, and its place.
constexpr std::uint32_t exact_counts = 32, bits_kept = 4, max_count = 31U << 14U;

std::uint32_t code_of_count(std::uint32_t count) {
  if (count < exact_counts) return count;
  count = std::min(count, max_count);
  auto shift = static_cast<std::uint32_t>(std::bit_width(count)) - 1 - bits_kept;
  std::uint32_t kept = (count + (1U << (shift - 1))) >> shift;  // 16 to 32
  if (kept == exact_counts) {
    kept /= 2;
    ++shift;
  }
  return ((shift + 1) << bits_kept) + kept - (1U << bits_kept);
}

std::uint32_t count_of_code(std::uint32_t code) {
  if (code < exact_counts) return code;
  const std::uint32_t kept = (code & ((1U << bits_kept) - 1)) + (1U << bits_kept);
  return kept << ((code >> bits_kept) - 1);
}

}  // namespace

PairCell pair_cell(const PairRecord& record) {
  const double median_ns = record.time_ns_median;
  if (record.count == 0 || !(median_ns > 0)) return 0;
  const double median =
      std::clamp(std::round(medians_an_octave * (std::log2(median_ns) - lowest_octave)), 1.0, max_median);
  const double octaves = std::log2(std::max(1.0, record.time_ns_p99 / median_ns));
  const double ratio = std::min(std::round(ratios_an_octave * octaves), max_ratio);
  return (static_cast<PairCell>(median) << 16U) | (static_cast<PairCell>(ratio) << 8U) | code_of_count(record.count);
}

PairRecord record_of(PairCell cell) {
  PairRecord record;
  if (!is_measured(cell)) return record;
  record.count = count_of_code(cell & 0xffU);
  record.time_ns_median = std::exp2(static_cast<double>(cell >> 16U) / medians_an_octave + lowest_octave);
  record.time_ns_p99 = record.time_ns_median * std::exp2(static_cast<double>((cell >> 8U) & 0xffU) / ratios_an_octave);
  return record;
}

}  // namespace leadline
