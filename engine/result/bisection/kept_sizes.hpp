// SPDX-License-Identifier: Apache-2.0
// The numbers of each message size of a bisection test, out of the summary in its file.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/bisection_result.hpp"
#include "result/bisection/header.hpp"

namespace leadline::result::bisection {

/// What of BisectionSummary a description has.
struct KeptSize {
  std::string stopped_by;  ///< in words, so that a reader copes with reasons that it does not know
  Interval ebb;            ///< bytes a second
  Interval relative;
  double bytes_per_s_harmonic = std::numeric_limits<double>::quiet_NaN();
};

/// By message size; nothing for those that are not in the summary, and in a file without one. Throws Error(run_failed)
/// naming `path` where the summary is not what docs/formats/json.md says.
std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path);

}  // namespace leadline::result::bisection
