// SPDX-License-Identifier: Apache-2.0
// Two results of the link test, compared size by size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/reporting.hpp"
#include "model/diagnosis.hpp"

namespace leadline::bench::link {

/// What is to be compared, and how.
struct ComparedFiles {
  std::string before, after;                ///< paths
  std::string topology;                     ///< empty = nothing is known of the network
  std::optional<std::uint64_t> size_bytes;  ///< only this message size
  DiagnosisSettings settings;
};

/// One comparison for each message size that both have; the notes are with the first. Throws Error: bad_command_line
/// where there is nothing to compare, run_failed for a damaged file.
std::vector<Comparison> compare_files(const ComparedFiles& files, command::StepLog& steps);

}  // namespace leadline::bench::link
