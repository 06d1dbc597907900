// SPDX-License-Identifier: Apache-2.0
// The steps in which rank 0 writes the structure of an HDF5 result; the layout is docs/formats/hdf5.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace leadline::result {

inline constexpr std::size_t reason_size = 1024;
inline constexpr std::size_t host_size = 64;
inline constexpr std::size_t device_size = 64;
inline constexpr std::size_t cpus_size = 128;

/// What a file says from its creation until something better is known.
inline constexpr const char* reason_from_the_start = "still running, or killed without a word";

/// N and S of the matrices [S,N,N].
struct MatrixShape {
  std::uint64_t num_sizes = 0;
  std::uint64_t num_ranks = 0;
};

/// Places in the file that are written while HDF5 has it closed. Bytes from its beginning.
struct FixedOffsets {
  std::uint64_t message_size = 0, permutations = 0;
  std::uint64_t complete = 0, reason = 0;
  std::uint64_t host = 0, device = 0, cpus = 0, pid = 0, num_cpus = 0, numa_node = 0;
};

/// The matrices of one repeat.
struct RepeatOffsets {
  std::uint64_t count = 0;
  std::uint64_t time_ns_min = 0, time_ns_median = 0, time_ns_mean = 0, time_ns_p99 = 0, time_ns_max = 0;
};

/// Local, rank 0: writes a fresh file over `path` (which exists), all but the contents of its datasets, and closes it.
/// Throws Error(run_failed), as do the next two.
FixedOffsets create_structure(const std::string& path, const LinkResult& so_far, MatrixShape shape,
                              const std::string& nonce);

/// Local, rank 0: adds the groups of repeats first .. last - 1 in one go, so that the file is open for an instant only.
struct RepeatRange {
  int first = 0, last = 0;
};
std::vector<RepeatOffsets> add_repeats(const std::string& path, RepeatRange repeats, MatrixShape shape,
                                       const std::function<int(int repeat)>& permutation_of_repeat);

/// Local, rank 0: adds /retest, /summary and the time of the end.
void add_end(const std::string& path, const LinkResult& result, const std::string& summary);

}  // namespace leadline::result
