// SPDX-License-Identifier: Apache-2.0
// The steps in which one process writes the structure of a topology test in HDF5; the layout is docs/formats/hdf5.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "result/hdf5/run_part.hpp"
#include "result/topology/header.hpp"

namespace leadline::result::topology {

/// One topology's lists and matrices; bytes from the beginning of the file. The matrices are not there with a load.
struct TopologyOffsets {
  std::uint64_t row_start = 0, partner = 0, starts = 0;
  std::uint64_t arrival_time_ns = 0;
  std::array<std::uint64_t, 5> rank_time_ns{};  ///< min, median, mean, p99, max
  std::uint64_t exchange_time_ns = 0, exchange_with_barrier_time_ns = 0;
};

struct LoadOffsets {
  std::uint64_t topology_index = 0, size_index = 0, repeat = 0;
  std::uint64_t begin_s = 0, elapsed_s = 0;
  std::uint64_t num_exchanges = 0, num_verified = 0;
  std::uint64_t time_ns_median = 0, time_ns_max = 0;
};

struct Offsets {
  RunOffsets run;
  std::vector<TopologyOffsets> topologies;
  LoadOffsets load;
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed), as does the next.
Offsets create_structure(const std::string& path, const Header& header);

/// Local: adds those of /summary and the time of the end that the header has.
void add_end(const std::string& path, const Header& header);

}  // namespace leadline::result::topology
