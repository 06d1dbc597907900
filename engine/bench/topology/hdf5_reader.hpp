// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a topology test what a description of it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/topology/fields.hpp"
#include "bench/topology/result.hpp"
#include "diagnosis/compare_runs.hpp"
#include "result/hdf5/run_reader.hpp"

namespace leadline::bench::topology {

/// A message, and how long after the beginning of an exchange it was there: median over the traced exchanges of a
/// repeat.
struct Arrival {
  std::uint32_t from = 0, to = 0;
  double time_ns = 0;
};

class Hdf5Reader : public result::hdf5::RunReader {
 public:
  explicit Hdf5Reader(std::string path);

  const Header& header() const { return header_; }

  /// How many points of load there are; 0 where the run measured cells.
  std::size_t num_load_points() const;

  /// Shows all messages of a cell in its first repeats, of some receiving ranks at a time; none where the run was a
  /// load.
  void visit_arrivals(std::size_t topology_index, std::size_t size_index, std::int32_t num_repeats,
                      const std::function<void(std::span<const Arrival> of_some_ranks)>& look) const;

 private:
  void read_header();
  void read_extent_of_cells(const std::string& group);

  Header header_;
};

/// The cell, or the point of load, with the highest total rate of its topology. Its other rates are then the highest,
/// too, since all are the same multiples of it.
struct BestRates {
  std::uint64_t message_size_bytes = 0;
  std::int64_t repeat = 0;
  Rates rates;  ///< at the median time of an exchange, without the barrier
};

/// By topology; nothing where none was measured, and in a file without a summary. Throws Error(run_failed) naming
/// `path` where the summary is not what docs/formats/json.md says.
std::vector<std::optional<BestRates>> best_rates(const Header& header, const std::string& path);

/// What `leadline compare` takes of a result of this benchmark. Throws as the reader does; bad_command_line for a
/// result without a summary.
diagnosis::RunNumbers numbers_of(const std::string& path);

}  // namespace leadline::bench::topology
