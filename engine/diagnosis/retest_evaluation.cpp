// SPDX-License-Identifier: Apache-2.0
// Measures evidence again, first alone, then under load.
#include "diagnosis/retest_evaluation.hpp"

#include <cmath>
#include <cstddef>

namespace leadline::diagnosis {
namespace {

constexpr double share_of_effect = 0.5;  // that must be there again

std::size_t index_of(Load load) { return static_cast<std::size_t>(load); }

/// NaN where nothing was measured.
double median_of(const std::vector<double>& values) {
  const Middle middle = middle_of(values);
  return middle.num > 0 ? middle.median : NAN;
}

}  // namespace

std::vector<double> RetestEvaluation::values_again(std::span<const MeasuredPair> pairs, Load load) const {
  std::vector<OrderedPair> wanted;
  for (const MeasuredPair& one : pairs) wanted.push_back(one.pair);
  std::vector<double> values;
  for (const RetestTimes& again : retest_(wanted, load)) {
    values.push_back(std::log(symptom_ == Symptom::slow ? again.median_ns : again.mean_ns / again.median_ns));
  }
  return values;
}

void RetestEvaluation::calibrate(std::span<const MeasuredPair> sound, Load load) {
  if (is_calibrated_[index_of(load)]) return;
  is_calibrated_[index_of(load)] = true;
  std::vector<double> change = values_again(sound, load);
  for (std::size_t index = 0; index < change.size(); ++index) change[index] -= sound[index].value;
  const double usual = median_of(change);
  usual_[index_of(load)] = std::isnan(usual) ? 0 : usual;
}

std::vector<double> RetestEvaluation::changes(std::span<const MeasuredPair> pairs, Load load) {
  std::vector<double> change = values_again(pairs, load);
  for (std::size_t index = 0; index < change.size(); ++index) {
    change[index] -= pairs[index].value + usual_[index_of(load)];
  }
  return change;
}

void RetestEvaluation::decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
                              std::span<const MeasuredPair> sound) {
  if (!is_possible() || evidence.empty()) return;
  const auto effect_in = [&](Load load) {
    calibrate(sound, load);
    return suspect.effect + median_of(changes(evidence, load));
  };
  const double alone = effect_in(Load::alone);
  if (std::isnan(alone)) return;
  fault.ratio_alone = std::exp(alone);
  if (alone >= share_of_effect * suspect.effect) {
    fault.persistence = Persistence::persistent;
    return;
  }
  if (load_ == Load::alone) {
    fault.persistence = Persistence::transient;
    return;
  }
  const double concurrent = effect_in(Load::concurrent);
  fault.persistence = Persistence::only_under_load;
  if (std::isnan(concurrent)) return;  // a file has no such measurement; alone it was as usual, so much is known
  fault.ratio_concurrent = std::exp(concurrent);
  if (concurrent < share_of_effect * suspect.effect) fault.persistence = Persistence::transient;
}

}  // namespace leadline::diagnosis
