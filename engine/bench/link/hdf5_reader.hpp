// SPDX-License-Identifier: Apache-2.0
// Reads results of link tests from HDF5 files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/link/plan.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/request.hpp"
#include "model/pair_cell.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/hdf5/run_reader.hpp"

namespace leadline::bench::link {

class Hdf5Reader : public ResultReader, private result::hdf5::RunReader {
 public:
  explicit Hdf5Reader(std::string path);

  const std::string& path() const override { return RunReader::path(); }
  const Header& header() const override { return header_; }
  PairRow row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<double> times_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                               PairTime time) override;
  MeasuredTimes measured_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                            PairTime time) override;
  std::vector<PairCell> cells_of_rounds(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<double> all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<std::int32_t> rounds(std::size_t repeat_index, std::int64_t rank) override;
  std::vector<std::int32_t> ranks_on_seat(std::int64_t seat) override;
  RankPlacement placement(std::int64_t rank) override { return RunReader::placement(rank); }
  std::array<std::int32_t, 4> location(std::int64_t rank) override;

 private:
  void touch_tables();
  void read_header();
  void read_repeats();
  template <typename Row>
  void read_list(const std::string& name, std::optional<std::vector<Row>>& rows);
  void read_stored_rounds();
  const MeetingRounds& meeting_rounds(std::size_t repeat_index);

  std::string group_of(std::size_t repeat_index) const;
  result::hdf5::Shape matrices() const;
  std::vector<PairCell> read_cells(const std::string& name, const result::hdf5::Shape& shape,
                                   const result::hdf5::Box& box);

  /// What a rank measured last with each partner, ascending by partner.
  struct MeasuredCell {
    std::uint32_t partner;
    PairCell cell;
  };
  std::vector<MeasuredCell> measured_cells(std::size_t repeat_index, std::size_t size_index, std::int64_t rank);
  std::span<const std::int32_t> partners_of(std::int64_t rank);

  Header header_;

  std::optional<LinkRequest> schedule_request_;  ///< compact form: what the numbers of a matrix's rounds follow from
  std::optional<MeetingRounds> meeting_rounds_;  ///< of the repeat in which they were asked for last
  std::size_t repeat_of_meeting_rounds_ = 0;
  std::vector<std::int32_t> partners_;  ///< by rank and round, where rounds are stored; empty = not asked for yet

  /// Some neighbouring ranks, read together.
  struct CellsOfRounds {
    std::size_t repeat_index = 0, size_index = 0;
    std::int64_t first = 0, end = 0;
    std::vector<PairCell> cells;
  } rounds_read_;
};

}  // namespace leadline::bench::link
