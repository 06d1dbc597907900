// SPDX-License-Identifier: Apache-2.0
// Places of hosts that show the same, joined for texts: "ports of node[24-31]".
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "diagnosis/seen_faults.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// One fault, or several that are told as one.
struct FaultGroup {
  /// Of several: name, hosts, ranks, adapters, pairs and num_pairs of all, `ratio_low` and `ratio_high` the least and
  /// the greatest of their ratios; what differs between them is left out, the rest is that of the first.
  Fault fault;
  std::vector<SeenFault> places;  ///< at least one, in the order of the list

  bool is_single() const { return places.size() == 1; }
  /// Whether the same slice shows all of them most clearly.
  bool is_of_one_slice() const;
};

/// Host, port, inside, socket or rank: what a host would be taken out of service for.
bool is_of_hosts(ComponentKind kind);

/// In the order of the first of each. Alike are places of hosts of one kind, symptom, direction, list and advice with
/// the same second measurements; and the same `grade`, where the caller tells one.
std::vector<FaultGroup> fault_groups(std::span<const SeenFault> seen,
                                     const std::function<int(const Fault&)>& grade = {});

/// Those of one slice.
std::vector<FaultGroup> fault_groups(const Diagnosis& diagnosis);

}  // namespace leadline::diagnosis
