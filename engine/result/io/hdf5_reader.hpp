// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a parallel file test what a description of it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/provenance.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/io/header.hpp"

namespace leadline::result::io {

/// A phase that is in a file.
struct StoredPhase {
  IoOperation operation = IoOperation::write;
  std::int32_t repeat = 0;
  bool is_complete = false;  ///< false: an error ended it
  std::string summary;       ///< JSON: one of the `phases` of docs/formats/json.md
};

/// An open result, complete or not. All members throw Error(run_failed) naming the file and what is wrong in it;
/// nothing in a file is trusted. Not for several threads.
class Hdf5Reader {
 public:
  /// Also throws bad_command_line for what is no result of a parallel file test.
  explicit Hdf5Reader(std::string path);

  const std::string& path() const { return path_; }
  const Header& header() const { return header_; }
  RankPlacement placement(std::int64_t rank) const;

  /// Those that were measured, also of a run that was killed.
  std::vector<StoredPhase> phases() const;

 private:
  struct Range {
    std::uint64_t begin = 0, num = 0;
  };

  void open_and_read_header();
  void read_header();
  void read_lists();
  std::vector<StoredPhase> phases_of(const Range& range) const;

  hdf5::Session quiet_;
  std::string path_;
  Header header_;
  std::optional<hdf5::Input> file_;
};

/// What of PhaseSummary a description has.
struct KeptPhase {
  IoOperation operation = IoOperation::write;
  std::int32_t repeat = 0;
  bool is_complete = false, is_interrupted = false;
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
