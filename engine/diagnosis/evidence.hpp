// SPDX-License-Identifier: Apache-2.0
// The pairs that belong to a component, some of them as evidence, and what their retest says about a suspect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "diagnosis/suspect.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Whether messages from one rank to another pass the component in the direction of its fault.
bool belongs(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to);

/// A measured pair and what it took, ln ns.
struct MeasuredPair {
  OrderedPair pair;
  double value = 0;
};

/// Collective: of each suspect at most `most` of its pairs, with partners that are not suspected, where there are any.
std::vector<std::vector<MeasuredPair>> evidence_for(const Rows& rows, const Setting& setting,
                                                    std::span<const Suspect> suspects, std::size_t most);

/// Collective: at most `most` pairs between hosts (inside, where there is one host) that belong to no suspect.
std::vector<MeasuredPair> sound_pairs(const Rows& rows, const Setting& setting, std::span<const Suspect> suspects,
                                      std::size_t most);

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

  /// Collective. Fills in persistence and the ratios of the retests. `sound` are measured under load only where the
  /// suspect is not there alone, and was measured under load.
  void decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
              std::span<const MeasuredPair> sound);

 private:
  std::vector<double> values_again(std::span<const MeasuredPair> pairs, Load load) const;

  const Retest& retest_;
  Symptom symptom_;
  Load load_;
  double usual_[2] = {0, 0};  ///< by load
  bool is_calibrated_[2] = {false, false};
};

}  // namespace leadline::diagnosis
