// SPDX-License-Identifier: Apache-2.0
// Everything that the result file of a parallel file test says beside its measurements.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "model/io_result.hpp"
#include "result/hdf5/facts.hpp"
#include "result/run_header.hpp"

namespace leadline::result::io {

/// A result without its numbers. Lists are in the order of the file.
struct Header : RunHeader {
  std::string movement, order;  ///< by name, so that a reader copes with those that it does not know
  std::string backend_library, file_system;
  std::uint64_t num_objects = 0;  ///< of a rank, as asked
  std::uint64_t object_size_bytes = 0;
  std::uint64_t run = 0;  ///< in every block's header
  std::vector<std::int32_t> io_ranks;
  hdf5::Texts<512> files;
  std::uint64_t num_phases = 0;  ///< there is room for so many
};

/// What a run knows before its first phase: not complete, no nonce, no room.
Header header_of(const IoResult& so_far);

}  // namespace leadline::result::io

namespace leadline {

template <>
inline constexpr auto fields<result::io::Header> = std::tuple{
    field("movement", &result::io::Header::movement, "", "which ranks share files, and who does I/O: N-N"),
    field("order", &result::io::Header::order, "", "segmented or strided"),
    field("backend_library", &result::io::Header::backend_library, "", "what moves the bytes: POSIX"),
    field("file_system", &result::io::Header::file_system, "", "of the directory of the first file, on rank 0: ext4"),
    field("num_objects", &result::io::Header::num_objects, "1", "objects of a rank, as asked"),
    field("object_size_bytes", &result::io::Header::object_size_bytes, "bytes", "size of an object"),
    field("run", &result::io::Header::run, "", "the number in the header of every block"),
    field("io_ranks", &result::io::Header::io_ranks, "", "ranks that do I/O"),
    field("files", &result::io::Header::files, "", "names"),
};

}  // namespace leadline
