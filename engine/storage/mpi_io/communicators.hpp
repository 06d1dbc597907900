// SPDX-License-Identifier: Apache-2.0
// A communicator for every set of ranks that opens a file together.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace leadline::storage::mpi_io {

/// Owns them, and frees them where MPI still runs. Ranks are those of MPI_COMM_WORLD.
class Communicators {
 public:
  Communicators() = default;
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  ~Communicators();

  /// All of `openers`, ascending, this rank included; the first time they make it together. One rank alone has
  /// MPI_COMM_SELF.
  MPI_Comm of(std::span<const std::int32_t> openers);

 private:
  std::map<std::vector<std::int32_t>, MPI_Comm> made_;
};

}  // namespace leadline::storage::mpi_io
