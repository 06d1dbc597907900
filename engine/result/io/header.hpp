// SPDX-License-Identifier: Apache-2.0
// Everything that the result file of a parallel file test says beside its measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/io_result.hpp"
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
  std::vector<std::string> files;
  std::uint64_t num_phases = 0;  ///< there is room for so many
};

/// What a run knows before its first phase: not complete, no nonce, no room.
Header header_of(const IoResult& so_far);

}  // namespace leadline::result::io
