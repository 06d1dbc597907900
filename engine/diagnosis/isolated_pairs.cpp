// SPDX-License-Identifier: Apache-2.0
// Keeps the slowest pairs of all rows.
#include "diagnosis/isolated_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "diagnosis/suspect.hpp"

namespace leadline::diagnosis {

std::vector<IsolatedPair> slowest_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                        std::span<const ExplainedPartition> explained,
                                        const DiagnosisSettings& settings, std::size_t most) {
  const auto slower = [](const IsolatedPair& a, const IsolatedPair& b) {
    return std::tie(b.residual, a.from, a.to) < std::tie(a.residual, b.from, b.to);
  };
  struct Scratch {
    std::vector<std::uint8_t> classes;
    std::vector<float> residuals;
    std::vector<IsolatedPair> found;
  };
  std::vector<Scratch> scratch(rows.num_workers());
  const auto least = static_cast<float>(std::log1p(settings.threshold));
  rows.visit([&](std::size_t worker, const Row& row) {
    Scratch& here = scratch[worker];
    residuals_of(effects, classes, row, here.classes, here.residuals);
    for (const ExplainedPartition& one : explained) subtract(one, row, here.residuals);
    // Of fewer pairs the ends explain nearly everything, so that a slow one makes another one look slow.
    const auto can_be_compared = [&](std::size_t index) {
      const Effects::OfClass& one = effects.classes[here.classes[index]];
      return one.num_out[row.from] >= fewest_to_compare && one.num_in[row.partner(index)] >= fewest_to_compare;
    };
    for (std::size_t index = 0; index < here.residuals.size(); ++index) {
      if (here.residuals[index] >= least && can_be_compared(index)) {
        here.found.push_back({row.from, row.partner(index), here.residuals[index], row.values[index]});
      }
    }
    if (here.found.size() < 4 * most) return;
    std::nth_element(here.found.begin(), here.found.begin() + static_cast<std::ptrdiff_t>(most), here.found.end(),
                     slower);
    here.found.resize(most);
  });
  std::vector<IsolatedPair> own;
  for (Scratch& here : scratch) own.insert(own.end(), here.found.begin(), here.found.end());
  return gather_first(rows, std::move(own), most, slower);
}

}  // namespace leadline::diagnosis
