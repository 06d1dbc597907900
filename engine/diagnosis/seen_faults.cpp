// SPDX-License-Identifier: Apache-2.0
// A fault is the same in two slices where component and symptom are.
#include "diagnosis/seen_faults.hpp"

#include <algorithm>

namespace leadline::diagnosis {
namespace {

double cost(const Fault& fault) { return (fault.ratio - 1) * static_cast<double>(fault.num_pairs); }

/// What needs action is not hidden by a slice in which it does not.
bool tells_more(const Fault& one, const Fault& other) {
  return counts(one) != counts(other) ? counts(one) : cost(one) > cost(other);
}

}  // namespace

std::size_t num_judged(std::span<const DiagnosedSlice> slices) {
  return static_cast<std::size_t>(
      std::ranges::count_if(slices, [](const DiagnosedSlice& one) { return one.diagnosis.untested.empty(); }));
}

std::vector<SeenFault> seen_faults(std::span<const DiagnosedSlice> slices) {
  std::vector<SeenFault> seen;
  for (const DiagnosedSlice& slice : slices) {
    for (const Fault& fault : slice.diagnosis.faults) {
      const auto known = std::ranges::find_if(seen, [&](const SeenFault& other) {
        return other.worst->component == fault.component && other.worst->symptom == fault.symptom;
      });
      if (known == seen.end()) {
        seen.push_back({&fault, &slice, 1});
        continue;
      }
      ++known->num_slices;
      if (tells_more(fault, *known->worst)) known->worst = &fault, known->slice = &slice;
    }
  }
  std::ranges::stable_sort(seen, [](const SeenFault& a, const SeenFault& b) {
    if (list_of(*a.worst) != list_of(*b.worst)) return list_of(*a.worst) < list_of(*b.worst);
    if (a.num_slices != b.num_slices) return a.num_slices > b.num_slices;
    return cost(*a.worst) > cost(*b.worst);
  });
  return seen;
}

}  // namespace leadline::diagnosis
