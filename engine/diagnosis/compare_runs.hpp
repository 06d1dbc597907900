// SPDX-License-Identifier: Apache-2.0
// Numbers of a run, of whatever benchmark, beside the same ones of earlier runs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// A number of a run that earlier runs may have, too.
struct RunNumber {
  std::string name;                      ///< "eBB", "exchange, ring"
  std::uint64_t message_size_bytes = 0;  ///< 0 = none
  std::string part;                      ///< a host, or a storage target; empty = of the whole run
  NumberUnit unit = NumberUnit::ns;
  double value = 0;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< standard error of its logarithm within the run
};

/// The value of what a result does not tell: that is said of it, and taken for the same.
inline constexpr const char* not_known = "not known";

/// What of a result is compared.
struct RunNumbers {
  std::string path;
  std::string incomplete_reason;  ///< empty = complete
  /// Name and value: runs that differ in one of the first are not comparable; of the second it is said.
  std::vector<std::pair<std::string, std::string>> conditions, noted;
  std::vector<std::string> hosts;
  std::vector<RunNumber> numbers;
};

/// ln of times of parts, by their names.
using TimesOfParts = std::map<std::string, std::vector<double>>;

/// Adds for each part the median of its times over that of all parts, so that what all have in common is not in it.
/// Nothing where there are fewer than three: then the data cannot tell which one differs.
void add_parts(RunNumbers& run, const std::string& name, std::uint64_t message_size_bytes, const TimesOfParts& times);

/// By name; a name without its domain is enough, where it is unique. Of each host of `after` that of `before`, -1 =
/// none.
std::vector<std::int64_t> same_hosts(const std::vector<std::string>& before, const std::vector<std::string>& after);

/// At least one earlier run. By the scatter of the earlier ones; with one of them by the errors of both runs, and of
/// parts by how these differ among each other. Throws Error(bad_command_line) where runs are not comparable.
ComparedRuns compare_runs(std::span<const RunNumbers> before, const RunNumbers& after,
                          const DiagnosisSettings& settings);

}  // namespace leadline::diagnosis
