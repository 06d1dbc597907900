// SPDX-License-Identifier: Apache-2.0
// The result of a parallel file test described, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/result.hpp"
#include "result/io/hdf5_reader.hpp"

namespace leadline::output {

struct IoInfo {
  result::io::Header header;     ///< without the summary
  std::vector<HostRanks> hosts;  ///< in order of their first ranks
  std::vector<result::io::KeptPhase> phases;
};

IoInfo io_info(const result::io::Hdf5Reader& reader);

/// Lines, each with its end.
std::string io_info_text(const IoInfo& info);

Json io_info_json(const IoInfo& info);

}  // namespace leadline::output
