// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a bisection test what a description of it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/bisection_result.hpp"
#include "model/provenance.hpp"
#include "result/bisection/header.hpp"
#include "result/hdf5/hdf5_input.hpp"

namespace leadline::result::bisection {

/// An open result, complete or not. All members throw Error(run_failed) naming the file and what is wrong in it;
/// nothing in a file is trusted. Not for several threads.
class Hdf5Reader {
 public:
  /// Also throws bad_command_line for what is no result of a bisection test.
  explicit Hdf5Reader(std::string path);

  const std::string& path() const { return path_; }
  const Header& header() const { return header_; }
  RankPlacement placement(std::int64_t rank) const;

  /// How many patterns of a message size there are, of every kind; and how many pairs that were measured alone.
  std::uint64_t num_patterns(std::size_t size_index) const;
  std::uint64_t num_baseline(std::size_t size_index) const;

 private:
  void open_and_read_header();
  void read_header();
  void read_pattern_names();
  std::uint64_t num_measured(const std::string& table, std::uint64_t row_length, std::size_t size_index) const;

  hdf5::Session quiet_;
  std::string path_;
  Header header_;
  std::optional<hdf5::Input> file_;
};

/// What of BisectionSummary a description has.
struct KeptSize {
  std::string stopped_by;  ///< in words, so that a reader copes with reasons that it does not know
  Interval ebb;            ///< bytes a second
  Interval relative;
  double bytes_per_s_harmonic = std::numeric_limits<double>::quiet_NaN();
};

/// By message size; nothing for those that are not in the summary, and in a file without one. Throws Error(run_failed)
/// naming `path` where the summary is not what docs/formats/json.md says.
std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path);

}  // namespace leadline::result::bisection
