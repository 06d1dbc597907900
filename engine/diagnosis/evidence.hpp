// SPDX-License-Identifier: Apache-2.0
// The pairs that belong to a component, some of them as evidence, and what their retest says about a suspect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Effects are natural logarithms of ratios of times.
struct Suspect {
  Component component;
  FaultDirection direction = FaultDirection::both;
  double effect = 0;  ///< beyond what is usual for its kind
  double error = 0;   ///< standard deviation of sound components of its kind
  double p_value = 1;
  std::uint64_t num_pairs = 0;
  bool is_note = false;
};

/// The effect of one component, sound or not.
struct Candidate {
  Component component;
  double effect = 0;          ///< NaN = unknown
  double standard_error = 0;  ///< of the effect, from the scatter of its pairs
  std::uint64_t num_pairs = 0;
};

/// Standard errors of a median and of a lower quartile of normally distributed values, over that of their mean.
inline constexpr double median_efficiency = 1.25, quartile_efficiency = 1.36;

/// Standard errors on either side that make a 95 % interval: Student's t with ten degrees of freedom.
inline constexpr double both_sides = 2.23;

/// Fewer cannot outvote one that is slow.
inline constexpr std::size_t fewest_to_compare = 3;

/// How candidates of one kind are compared.
struct Comparison {
  FaultDirection direction = FaultDirection::both;
  std::span<const Candidate> usual{};  ///< effects of components of the kind, most of them sound
  std::size_t num_fitted = 0;          ///< effects that were taken off the usual ones; each hides some of their spread
  std::uint64_t num_tests = 0;         ///< components of the kind, examined or not; at least as many as the candidates
  double least_freedom = 1;            ///< more where other data, too, show how sound components scatter
};

/// Those candidates that stand out among the usual ones: by the threshold, and by Student's t against the spread of the
/// usual ones (robust, at least the standard error), with the false discovery rate controlled. Nothing where fewer than
/// three can be compared.
std::vector<Suspect> judge(std::span<const Candidate> candidates, const Comparison& comparison,
                           const DiagnosisSettings& settings);

/// The same where the candidates are all components of their kind.
std::vector<Suspect> judge(std::span<const Candidate> candidates, FaultDirection direction,
                           const DiagnosisSettings& settings);

/// Robust: of values in any order, NaN left out.
struct Middle {
  double median = 0, spread = 0;  ///< 1.4826 MAD
  std::size_t num = 0;
};
Middle middle_of(std::vector<double> values);

/// The effect that all but a share of the members show: the order statistic below that quantile; NaN left out, NaN
/// without members. With a quarter, a component is slow only if nearly all of its members are. Reorders.
double consensus(std::vector<double>& members, double share);

/// The degrees of freedom that `num` sound components of a kind are worth: their spread is known no better, and their
/// tails are heavier than a normal distribution's.
double degrees_of_freedom(std::size_t num);

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
