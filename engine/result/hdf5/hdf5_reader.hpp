// SPDX-License-Identifier: Apache-2.0
// Reads results of link tests from HDF5 files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/pair_cell.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result {

class Hdf5Reader : public LinkResultReader {
 public:
  explicit Hdf5Reader(std::string path);

  const std::string& path() const override { return path_; }
  const LinkResultHeader& header() const override { return header_; }
  PairRow row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<double> times_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                               PairTime time) override;
  std::vector<double> all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<std::int32_t> rounds(std::size_t repeat_index, std::int64_t rank) override;
  std::vector<std::int32_t> ranks_on_seat(std::int64_t seat) override;
  RankPlacement placement(std::int64_t rank) override;
  std::array<std::int32_t, 4> location(std::int64_t rank) override;

 private:
  void open_and_read_header();
  void touch_tables();
  void read_header();
  void read_repeats();
  void read_retests();
  void read_linktest();

  std::string group_of(std::size_t repeat_index) const;
  hdf5::Shape matrices() const;
  std::vector<PairCell> read_cells(std::size_t repeat_index, const hdf5::Box& box);

  hdf5::Session quiet_;
  std::string path_;
  LinkResultHeader header_;
  std::optional<hdf5::Input> file_;
};

}  // namespace leadline::result
