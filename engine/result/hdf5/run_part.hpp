// SPDX-License-Identifier: Apache-2.0
// The part of an HDF5 result that all benchmarks share, written and read; the layout is docs/formats/hdf5.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/provenance.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/hdf5/library.hpp"
#include "result/run_header.hpp"

namespace leadline::result {

inline constexpr std::size_t reason_size = 1024;
inline constexpr std::size_t host_size = 64;
inline constexpr std::size_t device_size = 64;
inline constexpr std::size_t cpus_size = 128;

/// Places in the file that are written while HDF5 has it closed. Bytes from its beginning.
struct RunOffsets {
  std::uint64_t message_size = 0;
  std::uint64_t complete = 0, reason = 0;
  std::uint64_t host = 0, device = 0, cpus = 0, pid = 0, num_cpus = 0, numa_node = 0;
};

namespace hdf5 {

/// Local: of a fresh file all that the header tells, without the contents of its datasets, and without what belongs to
/// the end of a run. Throws Failure, as does the next.
RunOffsets create_run_part(const Handle& file, const RunHeader& header, const char* benchmark);

/// Local: adds those of /summary and the time of the end that the header has.
void add_run_end(const Handle& file, const RunHeader& header);

/// "link", "topology", "bisection", "io". Throws Failure, and Error naming the file: bad_command_line (no result of
/// ours), run_failed (a later format, damage); so do the next three.
std::string read_benchmark(const Input& file, const std::string& path);

/// Reads all of this. Lists that are longer than the file could hold are damage.
void read_run_part(const Input& file, const std::string& path, RunHeader& header);

/// The same of a file that must be of this benchmark, and of at least one message size; what is of another is
/// bad_command_line.
void read_run_part_of(const char* benchmark, const Input& file, const std::string& path, RunHeader& header);

RankPlacement read_place(const Input& file, std::int64_t num_ranks, std::int64_t rank);

}  // namespace hdf5
}  // namespace leadline::result
