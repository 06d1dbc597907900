// SPDX-License-Identifier: Apache-2.0
// The benchmarks, as commands need them that know the results of any.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "diagnosis/compare_runs.hpp"
#include "output/file_info.hpp"

namespace leadline::cli {

struct Benchmark {
  const char* name;     ///< of its command, and in its files
  const char* purpose;  ///< of the command
  int (*run)(const std::vector<std::string>& arguments);
  const char* document;  ///< what its JSON is
  Json (*schema)();
  output::ResultInfo (*info_of)(const std::string& path);  ///< of its result, for `leadline info`
  /// For `leadline compare`; null: it compares matrices of the link test.
  diagnosis::RunNumbers (*numbers_of)(const std::string& path);
};

/// In the order of the help; the link test, whose results may be SION, is the first one.
std::span<const Benchmark> benchmarks();

/// What their HDF5 files have of described structs, for `leadline schema hdf5` and through it for
/// docs/formats/hdf5.md: one object a group of a file, with `group`, and for each table or attribute its `name`,
/// `kind`, `type`, `unit`, `meaning`, and whether older files lack it.
Json described_groups();

}  // namespace leadline::cli
