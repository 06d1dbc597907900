// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a congestion test what a description of it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/congestion/fields.hpp"
#include "bench/congestion/json_fields.hpp"
#include "diagnosis/compare_runs.hpp"
#include "result/hdf5/run_reader.hpp"

namespace leadline::bench::congestion {

class Hdf5Reader : public result::hdf5::RunReader {
 public:
  explicit Hdf5Reader(std::string path);

  const Header& header() const { return header_; }
  std::size_t num_cells() const { return header_.cell_loads.size(); }

  /// "incast 50 %", "no load".
  std::string name_of_cell(std::size_t cell) const;

  /// One of the tables of /congestion/rounds ("loaded_time_ns_p99"): a test of a cell, round by round; 0 = not
  /// measured.
  std::vector<double> by_round(const std::string& table, std::size_t cell, Test test) const;

  /// That are in the file, also of a run that was killed.
  std::int32_t num_rounds_measured() const;

 private:
  void read_header();

  Header header_;
};

/// Nothing in a file without a summary. Throws Error(run_failed) naming `path` where the summary is not what
/// docs/formats/json.md says.
std::vector<KeptImpact> kept_impacts(const Header& header, const std::string& path);

/// What `leadline compare` takes of a result of this benchmark. Throws as the reader does; bad_command_line for a
/// result without a summary.
diagnosis::RunNumbers numbers_of(const std::string& path);

}  // namespace leadline::bench::congestion
