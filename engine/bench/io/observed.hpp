// SPDX-License-Identifier: Apache-2.0
// What a diagnosis works on, from the rows of a file test's ranks or from its file: the same for both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/io/fields.hpp"
#include "bench/io/hdf5_reader.hpp"
#include "diagnosis/layout.hpp"
#include "model/diagnosis.hpp"
#include "model/result.hpp"
#include "storage/storage_targets.hpp"

namespace leadline::bench::io {

/// Phases beyond are not judged, so that a rank keeps a bounded number of rows.
inline constexpr std::size_t most_judged_phases = 256;

JudgedRow judged_row(std::int32_t rank, std::int32_t phase, const RankPhase& row);

/// A phase as far as it decides whether it is judged.
struct JudgedPhase {
  IoOperation operation = IoOperation::write;
  bool is_complete = false;
  std::string source;  ///< of reads, by name
};

/// By index of a file: what it is a part of, a folder where there are several, else itself where ranks share it; empty
/// = neither.
std::vector<std::string> targets_of(const Header& header);

/// Where the objects of a rank lie.
struct FileOfRank {
  std::int32_t file = -1;  ///< index of the file; -1 = none
  std::int32_t storage_target = storage::unknown_target;
};

/// What the files of ranks lie on, by name: storage targets where the file system tells them of all these, else what
/// targets_of() says.
class TargetNames {
 public:
  TargetNames(const Header& header, const std::vector<FileOfRank>& files);

  const std::vector<std::string>& all() const { return all_; }  ///< ascending
  bool are_striped() const { return are_striped_; }
  std::int32_t index_of(const FileOfRank& file) const;  ///< in all(), of one of those files; -1 = none

 private:
  std::int32_t index_of_name(const std::string& name) const;

  std::string file_system_;
  bool are_known_, are_striped_;
  std::vector<std::string> by_file_, all_;
};

/// What a diagnosis takes of a run's findings.
struct JudgedFindings {
  bool is_short_of_cores = false;  ///< more ranks than cores
  /// Not judged: the root of a run has no rows of them, though the file has those of phases before.
  std::vector<std::int32_t> lost_ranks;
};
JudgedFindings judged_findings(const std::vector<Finding>& findings);

/// By operation, in the order of IoOperation. `rows`: of phases below most_judged_phases, in any order.
std::vector<DiagnosedSlice> diagnosed(const Header& header, const std::vector<JudgedPhase>& phases,
                                      const std::vector<JudgedRow>& rows, const JudgedFindings& findings,
                                      const diagnosis::Layout& layout, const DiagnosisSettings& settings);

/// From the file.
std::vector<DiagnosedSlice> diagnosed(const Hdf5Reader& reader, const diagnosis::Layout& layout,
                                      const DiagnosisSettings& settings);

}  // namespace leadline::bench::io
