// SPDX-License-Identifier: Apache-2.0
// Compares the medians of rounds with how the pairs of a round scatter.
#include "diagnosis/drift.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "diagnosis/evidence.hpp"
#include "diagnosis/log_histogram.hpp"
#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr double least_drift = 0.01;            // standard deviation over rounds, logarithm
constexpr double least_errors = 3;              // of a round's median
constexpr std::size_t fewest_rounds = 8;        // that show how rounds differ
constexpr double quartile_deviations = 0.7413;  // in the distance of a normal distribution's quartiles

using Counts = std::vector<std::uint32_t>;  // [round][bin]

/// The number of rounds, the same for all holders of rows; 0 where one of them does not know.
std::size_t num_rounds(const Rows& rows) {
  std::vector<std::uint32_t> own(rows.num_workers(), 0);
  rows.visit([&](std::size_t worker, const Row& row) {
    if (!row.rounds.empty()) own[worker] = std::max<std::uint32_t>(own[worker], std::ranges::max(row.rounds));
  });
  return gather_first(rows, own, 1, std::greater<>()).front() + std::size_t{1};
}

class RowsWithoutDrift final : public ChangedRows {
 public:
  RowsWithoutDrift(const Rows& rows, std::vector<float> drift) : ChangedRows(rows), drift_(std::move(drift)) {}

 private:
  void change(const Row& row, std::span<float> values) const override {
    for (std::size_t index = 0; index < row.rounds.size(); ++index) values[index] -= drift_[row.rounds[index]];
  }

  std::vector<float> drift_;
};

}  // namespace

std::vector<float> find_drift(const Rows& rows, const Effects& effects, const PairClasses& classes) {
  const std::size_t num = num_rounds(rows);
  if (num <= fewest_rounds) return {};
  // Of few pairs, whose ends explain nearly all, the spread says nothing, and the widest would leave one bin to all.
  const auto& most_pairs = *std::ranges::max_element(effects.classes, {}, &Effects::OfClass::num);
  const ColumnBins bins(std::fmax(most_pairs.spread, least_spread));
  struct Scratch {
    std::vector<std::uint8_t> classes;
    std::vector<float> residuals;
    Counts counts;
  };
  std::vector<Scratch> scratch(rows.num_workers());
  for (Scratch& here : scratch) here.counts.assign(num * ColumnBins::num, 0);
  rows.visit([&](std::size_t worker, const Row& row) {
    Scratch& here = scratch[worker];
    residuals_of(effects, classes, row, here.classes, here.residuals);
    for (std::size_t index = 0; index < row.rounds.size(); ++index) {
      const float residual = here.residuals[index];
      if (row.rounds[index] != 0 && !std::isnan(residual))
        ++here.counts[row.rounds[index] * ColumnBins::num + bins.index_of(residual)];
    }
  });
  Counts& counts = scratch.front().counts;
  for (std::size_t worker = 1; worker < scratch.size(); ++worker)
    std::ranges::transform(counts, scratch[worker].counts, counts.begin(), std::plus<>());
  add_up(rows, std::span(counts));
  std::vector<float> drift(num, 0);
  std::vector<double> medians, errors, spreads;
  for (std::size_t round = 1; round < num; ++round) {
    const auto of_round = std::span(counts).subspan(round * ColumnBins::num, ColumnBins::num);
    double pairs = 0;
    for (const std::uint32_t count : of_round) pairs += count;
    if (pairs == 0) continue;
    drift[round] = static_cast<float>(bins.quantile(of_round, 0.5));
    medians.push_back(static_cast<double>(drift[round]));
    // Both orders of a pair are about one measurement.
    spreads.push_back(quartile_deviations * (bins.quantile(of_round, 0.75) - bins.quantile(of_round, 0.25)));
    errors.push_back(median_efficiency * spreads.back() / std::sqrt(pairs / 2));
  }
  // Where flows share cables, rounds differ by who shares them with whom.
  if (medians.size() < fewest_rounds || middle_of(std::move(spreads)).median > spread_of_contention) return {};
  const Middle middle = middle_of(std::move(medians));
  if (middle.spread < std::fmax(least_drift, least_errors * middle_of(std::move(errors)).median)) return {};
  for (std::size_t round = 1; round < num; ++round) drift[round] -= static_cast<float>(middle.median);
  return drift;
}

std::unique_ptr<Rows> without_drift(const Rows& rows, std::vector<float> drift) {
  return std::make_unique<RowsWithoutDrift>(rows, std::move(drift));
}

std::unique_ptr<Rows> without_own_drift(const Rows& rows, const PairClasses& classes) {
  if (num_rounds(rows) <= fewest_rounds) return nullptr;
  std::vector<float> drift = find_drift(rows, fit(rows, classes), classes);
  return drift.empty() ? nullptr : without_drift(rows, std::move(drift));
}

}  // namespace leadline::diagnosis
