// SPDX-License-Identifier: Apache-2.0
// Opening a file through MPI-IO.
#pragma once

#include <mpi.h>

#include "storage/mpi_io/choice.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::mpi_io {

/// All of file.openers, whose communicator this is. Throws Error(run_failed); ROMIO itself sees to it that all openers
/// fail together, for OMPIO they agree beforehand.
MPI_File open_together(const OpenFile& file, MPI_Comm comm, Implementation implementation);

}  // namespace leadline::storage::mpi_io
