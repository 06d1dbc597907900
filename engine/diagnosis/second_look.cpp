// SPDX-License-Identifier: Apache-2.0
// Measures evidence again, first alone, then in company.
#include "diagnosis/second_look.hpp"

#include <cmath>
#include <cstddef>

namespace leadline::diagnosis {
namespace {

constexpr double share_of_effect = 0.5;  // that must be there again

std::size_t index_of(Company company) { return static_cast<std::size_t>(company); }

/// NaN where nothing was measured.
double median_of(const std::vector<double>& values) {
  const Middle middle = middle_of(values);
  return middle.num > 0 ? middle.median : NAN;
}

}  // namespace

std::vector<double> SecondLook::values_again(std::span<const MeasuredPair> pairs, Company company) const {
  std::vector<OrderedPair> wanted;
  for (const MeasuredPair& one : pairs) wanted.push_back(one.pair);
  std::vector<double> values;
  for (const Again& again : retest_(wanted, company)) {
    values.push_back(std::log(symptom_ == Symptom::slow ? again.median_ns : again.mean_ns / again.median_ns));
  }
  return values;
}

void SecondLook::calibrate(std::span<const MeasuredPair> sound, Company company) {
  if (is_calibrated_[index_of(company)]) return;
  is_calibrated_[index_of(company)] = true;
  std::vector<double> change = values_again(sound, company);
  for (std::size_t index = 0; index < change.size(); ++index) change[index] -= sound[index].value;
  const double usual = median_of(change);
  usual_[index_of(company)] = std::isnan(usual) ? 0 : usual;
}

std::vector<double> SecondLook::changes(std::span<const MeasuredPair> pairs, Company company) {
  std::vector<double> change = values_again(pairs, company);
  for (std::size_t index = 0; index < change.size(); ++index) {
    change[index] -= pairs[index].value + usual_[index_of(company)];
  }
  return change;
}

void SecondLook::decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
                        std::span<const MeasuredPair> sound) {
  if (!is_possible() || evidence.empty()) return;
  const auto effect_in = [&](Company company) {
    calibrate(sound, company);
    return suspect.effect + median_of(changes(evidence, company));
  };
  const double alone = effect_in(Company::alone);
  if (std::isnan(alone)) return;
  fault.ratio_alone = std::exp(alone);
  if (alone >= share_of_effect * suspect.effect) {
    fault.persistence = Persistence::persistent;
    return;
  }
  if (company_ == Company::alone) {
    fault.persistence = Persistence::transient;
    return;
  }
  const double beside_others = effect_in(Company::beside_others);
  fault.persistence = Persistence::only_under_load;
  if (std::isnan(beside_others)) return;  // a file has no such measurement; alone it was as usual, so much is known
  fault.ratio_beside_others = std::exp(beside_others);
  if (beside_others < share_of_effect * suspect.effect) fault.persistence = Persistence::transient;
}

}  // namespace leadline::diagnosis
