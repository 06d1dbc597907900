// SPDX-License-Identifier: Apache-2.0
// Reads results from SION files: LinkTest 1.2's record, and behind it our own extension where there is one.
#pragma once

#include <string>

#include "bench/link/reader.hpp"
#include "bench/link/sion_offsets.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::bench::link {

class SionReader : public ResultReader {
 public:
  explicit SionReader(const std::string& path);

  const std::string& path() const override { return path_; }
  const Header& header() const override { return header_; }
  PairRow row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<double> all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<std::int32_t> rounds(std::size_t repeat_index, std::int64_t rank) override;
  std::vector<std::int32_t> ranks_on_seat(std::int64_t seat) override;
  RankPlacement placement(std::int64_t rank) override;
  std::array<std::int32_t, 4> location(std::int64_t rank) override;

  /// Whether there is more than LinkTest's own record.
  bool is_extended() const { return offsets_.shape().record == SionRecord::extended; }

 private:
  result::sion::LinkTestRun read_record_of_rank_0();
  void take_plain(const result::sion::LinkTestRun& run);
  void take_extended();
  std::string first_common_bytes(std::int64_t rank);
  std::uint64_t expect_extension(std::int64_t rank);
  void check_extension(std::int64_t rank, std::uint64_t payload_bytes);
  void take_run_part(std::uint64_t payload_bytes);
  std::string run_text(std::uint64_t& offset, std::uint64_t end);

  std::string bytes(std::int64_t rank, std::uint64_t offset, std::uint64_t size);
  template <typename Number>
  std::vector<Number> numbers(std::int64_t rank, std::uint64_t offset, std::uint64_t count);
  std::uint64_t payload(std::int64_t rank) const;
  std::int64_t last_rank() const { return file_.num_tasks() - 1; }

  std::string path_;
  Header header_;
  result::sion::Reader file_;
  result::sion::ByteOrder order_;
  SionOffsets offsets_{SionShape{}};
  std::int64_t checked_rank_ = -1;  ///< whose extension is known to be as long as it must be
};

}  // namespace leadline::bench::link
