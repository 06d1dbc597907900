// SPDX-License-Identifier: Apache-2.0
// What pairs measured again say about a suspect: whether it is there alone, too, only under load, or was chance.
#pragma once

#include <span>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/suspect.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Logarithms of what is measured again, set against what sound pairs take then.
class RetestEvaluation {
 public:
  /// `question` outlives it.
  RetestEvaluation(const Question& question, Symptom symptom)
      : retest_(question.retest), symptom_(symptom), load_(question.load) {}

  bool is_possible() const { return static_cast<bool>(retest_); }

  /// Collective. What sound pairs take under this load over what they took in the test.
  void calibrate(std::span<const MeasuredPair> sound, Load load);

  /// Collective: by how much more each pair takes than it took in the test, less what sound pairs do; NaN = not
  /// measured.
  std::vector<double> changes(std::span<const MeasuredPair> pairs, Load load);

  /// Collective. Fills in persistence and the ratios of the retests. `sound` are asked beside others only where the
  /// suspect is not there alone, and was measured beside others.
  void decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
              std::span<const MeasuredPair> sound);

 private:
  std::vector<double> values_again(std::span<const MeasuredPair> pairs, Load load) const;

  const Retest& retest_;
  Symptom symptom_;
  Load load_;
  double usual_[2] = {0, 0};  ///< by company
  bool is_calibrated_[2] = {false, false};
};

}  // namespace leadline::diagnosis
