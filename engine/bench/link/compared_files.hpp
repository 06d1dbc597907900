// SPDX-License-Identifier: Apache-2.0
// Results of the link test, the last one compared with those before, size by size.
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
  std::vector<std::string> before;          ///< paths of earlier results
  std::string after;                        ///< and of the later one
  std::string topology;                     ///< empty = the network that the last run was told, if any
  std::optional<std::uint64_t> size_bytes;  ///< only this message size
  DiagnosisSettings settings;
};

/// "the baseline 'old.h5'", "its 3 baselines"
std::string baselines_text(const std::vector<std::string>& paths);

/// All are results of the link test. One comparison for each message size that all have; the notes are with the first.
/// Throws Error: bad_command_line where there is nothing to compare, run_failed for a damaged file.
std::vector<Comparison> compare_files(const ComparedFiles& files, command::StepLog& steps);

}  // namespace leadline::bench::link
