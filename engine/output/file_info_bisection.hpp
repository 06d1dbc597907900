// SPDX-License-Identifier: Apache-2.0
// The result of a bisection test described, for people and for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/result.hpp"
#include "result/bisection/hdf5_reader.hpp"

namespace leadline::output {

/// One message size.
struct BisectionSizeInfo {
  std::uint64_t message_size_bytes = 0;
  std::uint64_t num_patterns = 0;  ///< of every kind that are in the file, also of a run that was killed
  std::uint64_t num_baseline = 0;  ///< likewise pairs that were measured alone
  std::optional<result::bisection::KeptSize> numbers;  ///< nothing without a summary
};

struct BisectionInfo {
  result::bisection::Header header;  ///< without the summary
  std::vector<HostRanks> hosts;      ///< in order of their first ranks
  bool has_summary = false;
  std::vector<BisectionSizeInfo> sizes;
};

BisectionInfo bisection_info(const result::bisection::Hdf5Reader& reader);

/// Lines, each with its end.
std::string bisection_info_text(const BisectionInfo& info);

Json bisection_info_json(const BisectionInfo& info);

}  // namespace leadline::output
