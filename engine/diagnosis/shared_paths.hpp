// SPDX-License-Identifier: Apache-2.0
// One of several parallel cables, or a core switch: a share of the pairs that may pass it is slow, none of their ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

struct SharedPaths {
  /// Uplinks of which one of several cables is slow: Suspect::share of their pairs are.
  std::vector<Suspect> uplinks;
  /// Of all pairs between hosts that leave their group, so many are slow whichever groups they connect; 0 = only few.
  std::uint64_t num_slow_everywhere = 0;
  double sum_everywhere = 0;  ///< of their effects

  /// Whether these pairs explain that `num` of them, a link's, show this effect on average.
  bool explains_link(double effect, std::uint64_t num) const;
};

/// Collective. By the share of slow pairs between each two groups of the innermost level; where no network is known, of
/// all pairs between hosts. `suspects`: components that the fit shows. `notes` gets what many pairs everywhere have in
/// common.
SharedPaths find_shared_paths(const Rows& rows, const Effects& effects, const Setting& setting,
                              const DiagnosisSettings& settings, std::span<const Suspect> suspects,
                              std::vector<std::string>& notes);

}  // namespace leadline::diagnosis
