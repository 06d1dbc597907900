// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a collective test what a description of it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/collective/fields.hpp"
#include "diagnosis/compare_runs.hpp"
#include "result/hdf5/run_reader.hpp"

namespace leadline::bench::collective {

class Hdf5Reader : public result::hdf5::RunReader {
 public:
  explicit Hdf5Reader(std::string path);

  const Header& header() const { return header_; }

  /// Times of an operation with a size in a round, group by group, batch by batch; 0 = not measured.
  std::vector<double> times_ns(std::size_t round, std::size_t operation, std::size_t size) const;

  /// That are in the file, also of a run that was killed.
  std::size_t num_rounds_measured() const;

 private:
  void read_header();

  Header header_;
};

/// Nothing in a file without a summary. Throws Error(run_failed) naming `path` where the summary is not what
/// docs/formats/json.md says.
std::vector<CellSummary> kept_cells(const Header& header, const std::string& path);

/// What `leadline compare` takes of a result of this benchmark. Throws as the reader does; bad_command_line for a
/// result without a summary.
diagnosis::RunNumbers numbers_of(const std::string& path);

}  // namespace leadline::bench::collective
