// SPDX-License-Identifier: Apache-2.0
// Which hosts, ranks and storage targets are slow in the phases of a file test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/layout.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// What a rank did in a phase.
struct FileRow {
  std::uint32_t phase = 0;  ///< from 0
  std::uint32_t rank = 0;
  std::int32_t target = -1;  ///< -1 = none, or none that is told from others
  double time_ns = 0;        ///< in calls, without waiting for others
  std::uint64_t bytes = 0;   ///< of operations on files as a whole: so many of them
};

/// All phases of one operation.
struct FilePhases {
  std::string operation;  ///< "write", "read", "create"
  std::uint64_t object_size_bytes = 0;
  std::uint64_t num_phases = 0;
  std::vector<FileRow> rows;
  std::vector<std::string> targets;  ///< names by number
  bool is_short_of_cores = false;    ///< times contain waiting for a core
  std::vector<std::string> notes{};  ///< what of the operation is not among the rows, and why
};

/// The least threshold: ranks share disks and networks, and scatter more than messages of single pairs.
inline constexpr double least_of_file_test = 0.25;

/// Fewer phases do not tell what stays slow.
inline constexpr std::uint64_t fewest_phases = 3;

/// A host or target is at fault where nearly all its ranks are slower than others, loads taken off, in three phases at
/// least and in three quarters of all; a rank where it is the only one of its host. What could be either of two is told
/// as untested, as is what too few phases show; what was slow in fewer of them has passed.
DiagnosedSlice diagnosed_phases(const FilePhases& phases, const Layout& layout, const DiagnosisSettings& settings);

/// Why nobody can be judged by an operation.
DiagnosedSlice untested_phases(const FilePhases& phases, const Layout& layout, const DiagnosisSettings& settings,
                               std::string why);

}  // namespace leadline::diagnosis
