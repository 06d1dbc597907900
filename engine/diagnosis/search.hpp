// SPDX-License-Identifier: Apache-2.0
// All components of one matrix that stand out, larger ones first, then single pairs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diagnosis/blocks.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"

namespace leadline::diagnosis {

struct SearchOutcome {
  Effects effects;
  std::unique_ptr<Rows> without_drift;       ///< what the effects were fitted to, where rounds differ; else nullptr
  std::vector<Suspect> suspects;             ///< all but single pairs; a block in both directions is one
  std::vector<IsolatedPair> isolated_pairs;  ///< slowest first
};

/// Collective. The rows show `symptom` and outlive the outcome. `most_isolated_pairs` 0: single pairs are not looked
/// for.
SearchOutcome search(const Rows& as_measured, const Setting& setting, const DiagnosisSettings& settings,
                     Symptom symptom, std::size_t most_isolated_pairs, std::vector<std::string>& notes);

/// Suspects of one direction each, with ends as in `component`: both directions between two ends become one, the lower
/// end first.
std::vector<Suspect> joined(const std::vector<Suspect>& one_way);

/// The probability that a sound pair of this class lies so far above what its ends explain: the greater of what
/// Student's t and what the upper tail of all pairs (continued as a Pareto tail of times) let expect.
double tail_probability(const Effects::OfClass& pair_class, double residual);

}  // namespace leadline::diagnosis
