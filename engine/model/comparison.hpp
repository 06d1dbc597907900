// SPDX-License-Identifier: Apache-2.0
// What two results of the same machine say about each other: what became slower, what faster. Definitions:
// docs/metrics.md, "Comparison".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/diagnosis.hpp"

namespace leadline {

enum class Change : std::uint8_t { none, slower, faster };

/// All pairs of one class that both results have.
struct ComparedClass {
  std::string name;
  std::uint64_t num_pairs = 0;           ///< ordered
  double before_ns = 0, after_ns = 0;    ///< medians of the pairs' times
  double ratio = 1;                      ///< median over the pairs of after over before
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval, pairs of one host counting as one
  Change change = Change::none;          ///< beyond the threshold, and the interval leaves 1 out
};

/// One message size of two results.
struct Comparison {
  DiagnosisSettings settings;
  std::uint64_t message_size_bytes = 0;
  std::uint64_t num_pairs = 0;  ///< ordered pairs that both have
  std::vector<ComparedClass> classes;
  std::vector<Fault> slower, faster;  ///< places that changed by more or less than their class; ratio: after over
                                      ///< before, beyond the class
  std::vector<std::string> notes;     ///< what could not be compared, and why
};

/// Whether anything became slower.
bool is_worse(const Comparison& comparison);

const char* name_of(Change change);

}  // namespace leadline
