// SPDX-License-Identifier: Apache-2.0
// The numbers of each phase of a parallel file test, out of the summaries in its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result/io/hdf5_reader.hpp"

namespace leadline::result::io {

/// What of PhaseSummary a description has.
struct KeptPhase {
  IoOperation operation = IoOperation::write;
  std::int32_t repeat = 0;
  bool is_complete = false;
  std::string error;  ///< that ended it
  std::uint64_t bytes = 0, num_mismatches = 0;
  double wall_ns = not_measured;
  double bytes_per_s = not_measured, bytes_per_s_wall = not_measured;
  std::string source;              ///< in words, so that a reader copes with those that it does not know; reads only
  std::optional<bool> is_durable;  ///< writes only
};

/// All phases that were measured. Throws Error(run_failed) naming the file where a summary is not what
/// docs/formats/json.md says.
std::vector<KeptPhase> kept_phases(const Hdf5Reader& reader);

/// One of them; `path` is that of its file.
KeptPhase kept_phase(const StoredPhase& stored, const std::string& path);

}  // namespace leadline::result::io
