// SPDX-License-Identifier: Apache-2.0
// What changed between two matrices of the same ranks.
#pragma once

#include <cstdint>
#include <functional>

#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// What a comparison with one earlier run has to add.
inline constexpr const char* unknown_scatter =
    "there is one baseline, so how much launches differ by themselves is not known; several baselines tell it";

/// Which logarithm a pass over the rows reads.
enum class Compared : std::uint8_t { before, after, slowdown, speedup };  ///< slowdown: after over before

struct TwoMatrices {
  /// Of ns, or of a ratio; a pair that only one matrix has is NaN in all. Invalidates what it gave before. Of several
  /// earlier runs the mean is before.
  std::function<const Rows&(Compared compared)> rows;
  const Layout& layout;
  DiagnosisSettings settings{};
  std::uint64_t message_size_bytes = 0;
  bool has_classes = true;                                ///< false: times of classes are not comparable
  std::size_t num_before = 1;                             ///< earlier runs
  std::function<const Rows&(std::size_t run)> earlier{};  ///< each of them; not asked for where there is one
};

/// Classes by the median of their pairs' ratios; components by the same fit and the same rules as a diagnosis, with
/// ratios for times. With several earlier runs both must be beyond what these show from run to run, by Student's t.
leadline::Comparison compare(const TwoMatrices& matrices);

}  // namespace leadline::diagnosis
