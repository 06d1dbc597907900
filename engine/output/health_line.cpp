// SPDX-License-Identifier: Apache-2.0
// Says in a line what a health check found.
#include "output/health_line.hpp"

#include <fmt/format.h>

#include "output/diagnosis_text.hpp"
#include "output/table.hpp"

namespace leadline::output {

std::string health_line(const LinkResult& result, const std::string& /*result_path*/) {
  std::string faults;
  double measuring_s = 0;
  std::uint64_t num_pairs = 0, num_measured = 0;
  for (const SliceSummary& slice : result.slices) {
    measuring_s += slice.measuring_s + slice.diagnosis_s;
    if (!slice.diagnosis) continue;
    num_pairs += slice.diagnosis->num_pairs;
    num_measured += slice.diagnosis->num_measured;
    for (const Fault& fault : slice.diagnosis->faults) {
      if (counts(fault)) faults += (faults.empty() ? "" : "; ") + fault_sentence(fault);
    }
  }
  if (!faults.empty()) return fmt::format("bad: {}\n", faults);
  const auto& provenance = result.provenance;
  const double share = num_pairs > 0 ? 100 * static_cast<double>(num_measured) / static_cast<double>(num_pairs) : 0;
  return fmt::format("ok: {} on {}, {:.0f} % of all pairs in {}, no fault\n",
                     counted(static_cast<std::uint64_t>(provenance.num_ranks), "rank"),
                     counted(static_cast<std::uint64_t>(provenance.num_hosts), "host"), share,
                     format_duration(measuring_s));
}

}  // namespace leadline::output
