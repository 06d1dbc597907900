// SPDX-License-Identifier: Apache-2.0
// Packs totals for the way up the tree: of a histogram only what was counted.
#include "bench/congestion/totals.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "cluster/bytes.hpp"

namespace leadline::bench::congestion {
namespace {

void append_number(std::string& to, double number) { cluster::append(to, std::bit_cast<std::uint64_t>(number)); }
double number_of(cluster::Reader& from) { return std::bit_cast<double>(from.number<std::uint64_t>()); }

void append_histogram(std::string& to, const stats::TimeHistogram& histogram) {
  cluster::append(to, static_cast<std::uint32_t>(histogram.first()));
  cluster::append(to, static_cast<std::uint32_t>(histogram.counts().size()));
  for (const std::uint64_t count : histogram.counts()) cluster::append(to, count);
  append_number(to, histogram.sum_ns());
  append_number(to, histogram.num() > 0 ? histogram.max_ns() : 0);
}

stats::TimeHistogram histogram_of(cluster::Reader& from) {
  const auto first = from.number<std::uint32_t>();
  std::vector<std::uint64_t> counts(from.number<std::uint32_t>());
  for (std::uint64_t& count : counts) count = from.number<std::uint64_t>();
  const double sum_ns = number_of(from), max_ns = number_of(from);
  return stats::TimeHistogram::of_parts(first, counts, sum_ns, max_ns);
}

}  // namespace

void Recovery::merge(const Recovery& others) {
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    num[bin] += others.num[bin];
    num_long[bin] += others.num_long[bin];
  }
}

double Recovery::until() const {
  std::size_t end = 0, measured = 0;
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    if (num[bin] == 0) continue;
    measured = bin + 1;
    if (static_cast<double>(num_long[bin]) > most_share * static_cast<double>(num[bin])) end = bin + 1;
  }
  return end == measured ? std::nan("") : static_cast<double>(end) / num_bins;
}

void PhaseTotals::merge(const PhaseTotals& others) {
  for (std::size_t test = 0; test < num_tests; ++test) {
    for (std::size_t shared = 0; shared < num_shared; ++shared) times[test][shared].merge(others.times[test][shared]);
  }
  load.merge(others.load);
  recovery.merge(others.recovery);
}

std::string PhaseTotals::packed() const {
  std::string text;
  for (const auto& of_test : times) {
    for (const stats::TimeHistogram& histogram : of_test) append_histogram(text, histogram);
  }
  cluster::append(text, load.num);
  append_number(text, load.sum);
  append_number(text, load.sum_of_squares);
  for (const auto* const list : {&recovery.num, &recovery.num_long}) {
    for (const std::uint64_t number : *list) cluster::append(text, number);
  }
  return text;
}

PhaseTotals PhaseTotals::unpacked(std::string_view text) {
  cluster::Reader from(text);
  PhaseTotals totals;
  for (auto& of_test : totals.times) {
    for (stats::TimeHistogram& histogram : of_test) histogram = histogram_of(from);
  }
  totals.load.num = from.number<std::uint64_t>();
  totals.load.sum = number_of(from);
  totals.load.sum_of_squares = number_of(from);
  for (auto* const list : {&totals.recovery.num, &totals.recovery.num_long}) {
    for (std::uint64_t& number : *list) number = from.number<std::uint64_t>();
  }
  return totals;
}

}  // namespace leadline::bench::congestion
