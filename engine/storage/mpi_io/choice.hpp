// SPDX-License-Identifier: Apache-2.0
// Which of its implementations of MPI-IO a library takes: what a user says, before MPI starts, and what became of it.
#pragma once

#include <cstdint>
#include <string>

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {

/// Local, before MPI starts: tells Open MPI by its environment. "" = the library's own default; "ompio" or "romio",
/// which is all that MPICH has. Throws Error(bad_command_line).
void choose(const std::string& argument);

/// The two that there are; libraries have ROMIO in many versions.
enum class Implementation : std::uint8_t { ompio, romio };

struct Chosen {
  std::string name;  ///< "ompio", "romio321"; MPICH: "ROMIO"
  Implementation implementation = Implementation::romio;
};

/// Local, once MPI has started. Throws Error(something_missing) where what was chosen is not installed.
Chosen chosen();

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
