// SPDX-License-Identifier: Apache-2.0
// The steps in which one process writes the structure of a parallel file test in HDF5; the layout is
// docs/formats/hdf5.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "result/hdf5/run_part.hpp"
#include "result/io/header.hpp"

namespace leadline::result::io {

inline constexpr std::size_t file_name_size = 512;
inline constexpr std::size_t phase_summary_size = 1 << 15;

/// Written by rank 0, `state` last. Bytes from the beginning of the file, as in all that follows.
struct PhaseOffsets {
  std::uint64_t operation = 0, repeat = 0, state = 0, summary = 0;
};

struct Offsets {
  RunOffsets run;
  std::uint64_t io_ranks = 0, files = 0;  ///< 0 = there are none
  PhaseOffsets phases;
  std::vector<std::uint64_t> ranks;  ///< as each_rank_column has them
};

/// What the phases of so many ranks take in the file, about. No error where that is more than any number holds.
double size_of_phases(const Header& header);

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed), as does the next.
Offsets create_structure(const std::string& path, const Header& header);

/// Local: adds those of /summary and the time of the end that the header has.
void add_end(const std::string& path, const Header& header);

}  // namespace leadline::result::io
