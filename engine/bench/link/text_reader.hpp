// SPDX-License-Identifier: Apache-2.0
// What another benchmark printed, as a result of a link test.
#pragma once

#include <string>

#include "bench/link/benchmark_text.hpp"
#include "bench/link/reader.hpp"

namespace leadline::bench::link {

class TextReader : public ResultReader {
 public:
  /// `host_names`: by rank, for a text that names none; empty = "rank0", "rank1". Throws as read_benchmark_text does,
  /// and Error(bad_command_line) for names that do not fit.
  explicit TextReader(const std::string& path, const std::vector<std::string>& host_names = {});

  const std::string& path() const override { return path_; }
  const Header& header() const override { return header_; }
  PairRow row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<double> all_to_all_ns(std::size_t, std::size_t, std::int64_t) override { return {}; }
  std::vector<std::int32_t> rounds(std::size_t repeat_index, std::int64_t rank) override;
  std::vector<std::int32_t> ranks_on_seat(std::int64_t) override { return {}; }
  RankPlacement placement(std::int64_t rank) override;
  std::array<std::int32_t, 4> location(std::int64_t rank) override;

  /// What of the text is not in the result.
  std::vector<std::string> left_out() const;

 private:
  void name_hosts(const std::vector<std::string>& host_names);
  bool is_matrix() const { return !text_.matrix_ns.empty(); }

  std::string path_;
  BenchmarkText text_;
  Header header_;
};

}  // namespace leadline::bench::link
