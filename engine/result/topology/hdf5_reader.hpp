// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a topology test what a description of it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/provenance.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/topology/header.hpp"

namespace leadline::result::topology {

/// An open result, complete or not. All members throw Error(run_failed) naming the file and what is wrong in it;
/// nothing in a file is trusted. Not for several threads.
class Hdf5Reader {
 public:
  /// Also throws bad_command_line for what is no result of a topology test.
  explicit Hdf5Reader(std::string path);

  const std::string& path() const { return path_; }
  const Header& header() const { return header_; }
  RankPlacement place(std::int64_t rank) const;

  /// How many points of load there are; 0 where the run measured cells.
  std::size_t num_load_points() const;

 private:
  void open_and_read_header();
  void read_header();
  KeptTopology read_topology(const std::string& group) const;
  void read_extent_of_cells(const std::string& group);

  hdf5::Session quiet_;
  std::string path_;
  Header header_;
  std::optional<hdf5::Input> file_;
};

}  // namespace leadline::result::topology
