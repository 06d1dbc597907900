// SPDX-License-Identifier: Apache-2.0
// The pairs that belong to a component, some of them as evidence, and what their retest says about a suspect.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/reference.hpp"
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
  double share = 1;                   ///< of its pairs that are slow; less than 1: one of several parallel cables
  bool is_whole_class = false;        ///< all pairs of a class belong to it, so the fit expects them to be slow
  bool is_before_fit = false;         ///< taken off the times before ends were fitted, so the fit does not expect it
  bool needs_retest = false;          ///< it may be contention, so it is left out unless its pairs are slow alone, too
  bool is_beyond_contention = false;  ///< more than flows that share cables make sound ones differ
  bool is_of_both_ways = false;       ///< of a round trip: the effect of pairs that pass it there and back
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

/// Of pairs, logarithm: from here on flows share cables, and components differ by whom they share them with.
inline constexpr double spread_of_contention = 0.1;

/// What few more switches on the way cost: logarithm, x1.22, of small messages between neighbours; and ns.
inline constexpr double most_by_distance = 0.2, most_ns_by_distance = 1000;

/// Fewer cannot outvote one that is slow.
inline constexpr std::size_t fewest_to_compare = 3;

/// What is usual among candidates.
enum class Usual : std::uint8_t {
  lowest_cluster,  ///< sound ones may be few
  majority,        ///< more than half are sound
};

/// How candidates of one kind are compared.
struct Comparison {
  FaultDirection direction = FaultDirection::both;
  std::span<const Candidate> usual{};  ///< effects of components of the kind, most of them sound
  std::size_t num_fitted = 0;          ///< effects that were taken off the usual ones; each hides some of their spread
  std::uint64_t num_tests = 0;         ///< components of the kind, examined or not; at least as many as the candidates
  double least_freedom = 1;            ///< more where other data, too, show how sound components scatter
  Usual reference = Usual::lowest_cluster;
};

/// Those candidates that stand out among the usual ones: by the threshold, and by Student's t against the spread of the
/// usual ones (robust, at least the standard error), with the false discovery rate controlled. The usual ones are the
/// lowest cluster; where that is of few and nothing stands out beside it, most of them. Nothing where fewer than three
/// can be compared.
std::vector<Suspect> judge(std::span<const Candidate> candidates, const Comparison& comparison,
                           const DiagnosisSettings& settings);

/// The same where the candidates are all components of their kind.
std::vector<Suspect> judge(std::span<const Candidate> candidates, FaultDirection direction,
                           const DiagnosisSettings& settings);

/// The effect that all but a share of the members show: the order statistic below that quantile; NaN left out, NaN
/// without members. With a quarter, a component is slow only if nearly all of its members are. Reorders.
double consensus(std::vector<double>& members, double share);

/// Degrees of freedom as they are used: one at least, and no more than what leaves room for tails that are heavier than
/// a normal distribution's.
double limited(double degrees_of_freedom);

/// The degrees of freedom that `num` sound components of a kind are worth: their spread is known no better, and their
/// tails are heavier than a normal distribution's.
double degrees_of_freedom(std::size_t num);

/// Of the shortest paths those that have a cable: from here on all of them.
inline constexpr double sure_share = 0.99;

/// Whether messages from one rank to another pass the component in the direction of its fault: a cable of a network
/// that is no tree, where all of their shortest paths have it.
bool belongs(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to);

/// The same, either way; of such a cable, where it is on one of their shortest paths.
bool may_pass(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to);

/// A measured pair: what it took and what its ends let expect, ln ns.
struct MeasuredPair {
  OrderedPair pair;
  double value = 0;
  double expected = 0;
};

/// What pairs of suspects are chosen from, and what is known of them.
struct PairSource {
  const Rows& rows;
  const Setting& setting;
  const Effects& effects;
  std::span<const OrderedPair> retested;  ///< see Question
};

/// Collective: of each suspect at most `most` of its pairs, those that were measured again first, then those with
/// partners that are not suspected.
std::vector<std::vector<MeasuredPair>> evidence_for(const PairSource& source, std::span<const Suspect> suspects,
                                                    std::size_t most);

/// Collective: pairs that belong to no suspect: those that were measured again; where nothing was, at most `most` of
/// those between hosts (inside, where there is one host).
std::vector<MeasuredPair> sound_pairs(const PairSource& source, std::span<const Suspect> suspects, std::size_t most);

/// Logarithms of what is measured again, set against what sound pairs take then. What a pair takes is compared with
/// what its ends let expect, not with its first measurement: the slowest of many pairs were slow by chance, too, and
/// take less the second time.
class RetestEvaluation {
 public:
  /// `question` outlives it. `is_contended`: pairs differ by whom they share cables with, so what their ends let expect
  /// says nothing of what they take alone. `uncontended`: ln ns that pairs take where nothing is shared; NaN = unknown.
  RetestEvaluation(const Question& question, Symptom symptom, bool is_contended = false,
                   double uncontended = std::numeric_limits<double>::quiet_NaN())
      : retest_(question.retest),
        symptom_(symptom),
        load_(question.load),
        layout_(question.layout),
        is_contended_(is_contended),
        uncontended_(uncontended) {}

  bool is_possible() const { return static_cast<bool>(retest_); }

  /// Collective. What sound pairs take under this load over what is expected: the median of those that took no longer
  /// in the test, where there are three; else the lowest cluster of all, and no more than in the test.
  void calibrate(std::span<const MeasuredPair> sound, Load load);

  /// Collective: by how much more each pair takes than is expected, less what sound pairs do; NaN = not measured.
  /// `in_ends`: so much of it the ends let expect. Where flows share cables, what it takes beyond other pairs: of what
  /// many pairs have in common that alone, else the lesser of both.
  std::vector<double> effects(std::span<const MeasuredPair> pairs, Load load, double in_ends = 0,
                              bool is_of_many = false);

  /// Collective. Fills in persistence and the ratios of the retests. `sound` are measured under load only where the
  /// suspect is not there alone, and was measured under load.
  void decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
              std::span<const MeasuredPair> sound);

 private:
  std::vector<double> values_again(std::span<const MeasuredPair> pairs, Load load) const;
  bool differ_only_under_load(std::span<const MeasuredPair> pairs, std::span<const double> alone) const;
  /// Whether what a pair takes is compared with what others take, too, whatever the fit lets expect.
  bool is_absolute(const OrderedPair& pair, Load load) const {
    return is_contended_ && load == Load::alone && layout_.host_of[pair.from] != layout_.host_of[pair.to];
  }

  const Retest& retest_;
  Symptom symptom_;
  Load load_;
  const Layout& layout_;
  bool is_contended_;
  double uncontended_;
  /// Where flows share cables: what sound pairs take, not over what is expected; NaN = unknown. Of fewer than three
  /// it is no more than a limit: what is slow beside it is slow.
  double usual_alone_ = std::numeric_limits<double>::quiet_NaN();
  bool is_known_alone_ = false;
  double usual_[2] = {0, 0};  ///< by load
  bool is_calibrated_[2] = {false, false}, has_usual_[2] = {false, false};
};

}  // namespace leadline::diagnosis
