// SPDX-License-Identifier: Apache-2.0
// A diagnosis as people read it: faults first, each with evidence, what was ruled out and what to do.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/fault_groups.hpp"
#include "model/diagnosis.hpp"

namespace leadline::output {

/// One sentence about a fault, or about alike ones: "host node3 is slow: 3.1 times as long as usual (2.9 to 3.3)",
/// "hosts node[3-5] are slow: 2.8 to 3.1 times as long as usual".
std::string group_sentence(const diagnosis::FaultGroup& group);

/// "all pairs between hosts", "all pairs 'same socket'"
std::string all_pairs_of(const ComparedClass& one);

/// One sentence about a class beside the site profile.
std::string class_sentence(const ComparedClass& one);

/// Several lines, each with its end. At most `most_faults` faults; how many more there are is said.
std::string diagnosis_text(const Diagnosis& diagnosis, std::size_t most_faults = 20);

/// Each slice behind the other, under its message size, and repeat or pattern where there are several; then the faults
/// of all slices in a line each. Empty without any.
std::string diagnoses_text(const std::vector<DiagnosedSlice>& slices);

/// The verdicts of a run's `num_slices` slices in one: each fault once, as the slice shows it in which it costs most,
/// and in how many of those it was found in which somebody was judged. Empty where there was no diagnosis.
std::string verdict_text(const std::vector<DiagnosedSlice>& slices, std::size_t num_slices);

/// Several lines, each with its end: classes in a table, then the components that changed otherwise.
std::string comparison_text(const Comparison& comparison);

/// Those of several message sizes, one behind the other.
/// Numbers of a run of another benchmark beside earlier ones: those of the whole run, and parts that changed.
std::string compared_runs_text(const ComparedRuns& compared);

std::string comparisons_text(const std::vector<Comparison>& comparisons);

}  // namespace leadline::output
