// SPDX-License-Identifier: Apache-2.0
// A simulated machine's link test as a result: the same data and the same files as of a measured one, marked as
// simulated.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/link/reader.hpp"
#include "bench/link/result.hpp"
#include "schedule/schedule.hpp"
#include "synthetic/simulator.hpp"

namespace leadline::synthetic {

/// The program that made a file, as the file records it, and what it shall have of each pair.
struct Origin {
  std::vector<std::string> command_line;
  std::string version, commit;
  bench::link::PairStatistics statistics = bench::link::PairStatistics::full;
  std::int64_t rounds = 0;  ///< so many randomly sampled ones; 0 = all
};

/// Summary, the slowest pairs and their retest, provenance. Memory: 8 bytes an ordered pair that meets, while it is
/// made. Throws Error(something_missing) where there is not so much.
bench::link::LinkResult link_result(const Simulator& simulator, const Origin& origin, int num_retests = 10);

/// The machine's rows, computed when they are asked for. `simulator` outlives it.
class Reader final : public bench::link::ResultReader {
 public:
  Reader(const Simulator& simulator, const bench::link::LinkResult& result);

  const std::string& path() const override { return path_; }
  const bench::link::Header& header() const override { return header_; }
  PairRow row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<PairCell> cells_of_rounds(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) override;
  std::vector<double> all_to_all_ns(std::size_t, std::size_t, std::int64_t) override { return {}; }
  std::vector<std::int32_t> rounds(std::size_t repeat_index, std::int64_t rank) override;
  std::vector<std::int32_t> ranks_on_seat(std::int64_t) override { return {}; }
  RankPlacement placement(std::int64_t rank) override;
  std::array<std::int32_t, 4> location(std::int64_t rank) override;

 private:
  const Simulator& simulator_;
  schedule::Schedule schedule_;
  std::vector<std::int32_t> partners_;  ///< by rank and round, where rounds are sampled
  std::string path_ = "the simulated machine";
  bench::link::Header header_;
};

}  // namespace leadline::synthetic
