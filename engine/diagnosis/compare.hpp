// SPDX-License-Identifier: Apache-2.0
// What changed between two matrices of the same ranks.
#pragma once

#include <cstdint>
#include <functional>

#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// Which logarithm a pass over the rows reads.
enum class Compared : std::uint8_t { before, after, slowdown, speedup };  ///< slowdown: after over before

struct TwoMatrices {
  /// Of ns, or of a ratio; a pair that only one matrix has is NaN in all. Invalidates what it gave before.
  std::function<const Rows&(Compared compared)> rows;
  const Layout& layout;
  DiagnosisSettings settings{};
  std::uint64_t message_size_bytes = 0;
};

/// Classes by the median of their pairs' ratios; components by the same fit and the same rules as a diagnosis, with
/// ratios for times.
leadline::Comparison compare(const TwoMatrices& matrices);

}  // namespace leadline::diagnosis
