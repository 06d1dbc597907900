// SPDX-License-Identifier: Apache-2.0
// Slow cables and switches without hosts, where forwarding tables tell which pairs pass them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// How often a time passes a part: of a round trip there and back.
inline constexpr std::size_t most_passes = 2;

struct RoutedParts {
  std::vector<Suspect> suspects;
  std::vector<std::array<float, most_passes + 1>> excess;  ///< by part and passes: logarithm; 0 of sound ones
  std::vector<float> usual;                                ///< by class of pairs: ln ns
  bool is_round_trip = false;
};

/// The parts that explain which pairs between hosts are slow, found one by one by what each adds to the likelihood,
/// beside hosts, their switches and pairs of these, which explain but are not reported here. Collective as the rows
/// are; the same for all.
RoutedParts find_routed_parts(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings,
                              bool is_round_trip);

/// Why nothing can be said of the forwarding tables that there are: "of more than 4,096 hosts they are not used"; empty
/// where it can.
std::string why_not_used(const Rows& rows, const Setting& setting);

/// The rows without what slow parts add; all arguments outlive it.
std::unique_ptr<Rows> without_routed_parts(const Rows& rows, const Setting& setting, const RoutedParts& parts);

}  // namespace leadline::diagnosis
