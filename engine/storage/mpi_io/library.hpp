// SPDX-License-Identifier: Apache-2.0
// The MPI library's errors and counts as text and numbers; and waiting for it with pauses.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/deadline.hpp"
#include "mpi/abi/functions.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {

/// Local, also before MPI starts: between MPI_Init and MPI_Finalize.
bool is_running();

/// An error code in MPI's words, on one line.
std::string words_of(int code);

/// The system's number of that kind of error; 0 where MPI has none like it.
int errno_of(int code);

/// Bytes that a transfer has moved; -1 where the library does not know.
std::int64_t count_of(const MPI_Status& status);

/// Pauses between two looks at something that is not there yet: for a moment the core is only given away, then the
/// pauses are a sixteenth of the time waited so far, and a millisecond at most. The library's helper threads do the
/// I/O meanwhile, and need a core.
class Pauses {
 public:
  void pause();

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

/// Whether the request was done by then.
bool wait_with_pauses(MPI_Request& request, Deadline deadline);

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
