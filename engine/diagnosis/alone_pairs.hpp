// SPDX-License-Identifier: Apache-2.0
// Pairs that were measured alone, beside what pairs take under load: what of them is slow by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// What a fault that pairs alone show was suspected of: its component, its direction and its effect.
Suspect suspect_alone(const Fault& fault);

/// What pairs take alone: logarithms, without what sound pairs of their class take. Under load the network is shared,
/// so the time that it lets expect says nothing about a pair alone. What a pair takes under load it takes alone at
/// most.
class AlonePairs {
 public:
  /// Both outlive it.
  AlonePairs(const ObservedSlice& slice, const Setting& setting, const DiagnosisSettings& settings);

  /// Whatever the load shows: the fewest hosts, ranks, links, uplinks and cables that all pairs have which are slow
  /// alone, and that no fast pair has. Empty where so many may have a reason in common.
  std::vector<Fault> what_is_slow() const;

  /// From now on pairs that pass what was found do not tell what is usual.
  void learn_from(std::span<const Fault> found);

  /// Whether messages between the two pass what is at fault, for sure.
  bool passes(const Fault& fault, const Observation& one) const { return passes(fault.component, one); }

  /// Fills in what alone measurements say of faults that were found under load. An end that is fast with one partner
  /// alone is slow under load only.
  void judge(Diagnosis& diagnosis) const;

  /// Adds links that the load has hidden: slow pairs that no fault has; where nothing is known of the network, none of
  /// ranks whose host `is_explained`.
  void add_links(Diagnosis& diagnosis, const std::function<bool(std::uint32_t rank)>& is_explained) const;

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // of ranks or hosts, the lesser number first

  /// A pair of ranks that is slow each time.
  struct Slow {
    Observation shown;  ///< the least time
    double effect = 0;
    std::size_t num_measured = 0;
    bool is_best_of_several = false;
  };

  /// What may explain slow pairs.
  struct Candidate {
    Component component;
    double least_effect = 0;  ///< of the pairs that pass it, alone or under load
    std::size_t num_pairs = 0;
  };

  bool knows_usual() const { return num_usual_ >= fewest_alone; }
  double effect_of(const Observation& one) const;
  void find_most();
  void find_usual(std::span<const Fault> found);
  void find_slow();
  Pair hosts_of(const Observation& one) const;
  bool passes(const Component& component, const Observation& one) const;
  std::vector<Component> network_elements() const;
  std::vector<Candidate> candidates() const;
  std::size_t num_explained(const Candidate& candidate, const std::vector<Slow>& left) const;
  bool is_slower_than_most(const Candidate& host) const;
  std::vector<double> least_of_hosts() const;
  bool has_met_many(const Component& end) const;
  Fault fault_of(const Component& component, std::span<const Slow> slow) const;

  /// Pairs of hosts that nothing explains: more have something in common. Of an exchange of all they are few, chosen
  /// since they are late, be it by themselves or by what they share.
  std::size_t most_left_over() const;

  static constexpr std::size_t fewest_alone = 5;  // that tell what is usual

  const ObservedSlice& slice_;
  const Setting& setting_;
  const DiagnosisSettings& settings_;
  std::vector<Observation> most_;  ///< by ranks, the lesser first, sorted: no more than that it takes alone
  std::vector<double> usual_;      ///< by class
  double spread_ = 0;              ///< of sound pairs
  std::size_t num_usual_ = 0;      ///< pairs that tell what is usual
  double least_ = 0;               ///< from where on a pair is slow
  std::vector<Slow> slow_;
};

}  // namespace leadline::diagnosis
