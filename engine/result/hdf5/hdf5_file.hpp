// SPDX-License-Identifier: Apache-2.0
// The steps in which one process writes the structure of a link test in HDF5; the layout is docs/formats/hdf5.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "result/hdf5/run_part.hpp"
#include "result/link_result_header.hpp"

namespace leadline::result {

inline constexpr std::size_t location_size = 4;  ///< numbers a rank

/// Places in the file that are written while HDF5 has it closed. Bytes from its beginning.
struct FixedOffsets : RunOffsets {
  std::uint64_t permutations = 0;
  std::uint64_t location = 0;  ///< only with header.linktest
};

/// The matrices of one repeat. 0 = not in the file.
struct RepeatOffsets {
  std::uint64_t round = 0, all_to_all_time_ns = 0;
  std::uint64_t count = 0;
  std::uint64_t time_ns_min = 0, time_ns_median = 0, time_ns_mean = 0, time_ns_p99 = 0, time_ns_max = 0;
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets, and closes it. Repeats
/// and what belongs to the end of a run are left out. Throws Error(run_failed), as do the next two.
FixedOffsets create_structure(const std::string& path, const LinkResultHeader& header);

/// Local: adds the groups of these repeats in one go, so that the file is open for an instant only.
std::vector<RepeatOffsets> add_repeats(const std::string& path, const LinkResultHeader& header,
                                       std::span<const KeptRepeat> repeats);

/// Local: adds those of /retest, /summary and the time of the end that the header has.
void add_end(const std::string& path, const LinkResultHeader& header);

}  // namespace leadline::result
