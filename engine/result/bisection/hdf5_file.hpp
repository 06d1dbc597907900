// SPDX-License-Identifier: Apache-2.0
// The steps in which one process writes the structure of a bisection test in HDF5; the layout is docs/formats/hdf5.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "result/bisection/header.hpp"
#include "result/hdf5/run_part.hpp"

namespace leadline::result::bisection {

inline constexpr std::size_t pattern_name_size = 64;

/// What every rank writes: a row of each size. Bytes from the beginning of the file, as in all that follows.
struct RowOffsets {
  std::uint64_t send_to = 0, receive_from = 0;
  std::uint64_t time_ns = 0, full_load_time_ns = 0;
};

struct PatternOffsets {
  std::uint64_t kind = 0, index = 0, repeat = 0, accepted = 0;
  std::uint64_t num_connections = 0;
  std::array<std::uint64_t, 5> bytes_per_s{};  ///< mean, harmonic, min, max, full load
  std::uint64_t slowest_from = 0, slowest_to = 0;
  std::uint64_t begin_s = 0, measuring_s = 0;
};

/// Not there without room for pairs alone.
struct BaselineOffsets {
  std::uint64_t number = 0, from = 0, to = 0, time_ns = 0;
};

struct Offsets {
  RunOffsets run;
  std::uint64_t pattern_names = 0;  ///< 0 = there are none
  RowOffsets rows;
  PatternOffsets patterns;
  BaselineOffsets baseline;
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed), as does the next.
Offsets create_structure(const std::string& path, const Header& header);

/// Local: adds those of /summary and the time of the end that the header has.
void add_end(const std::string& path, const Header& header);

}  // namespace leadline::result::bisection
