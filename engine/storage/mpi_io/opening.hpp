// SPDX-License-Identifier: Apache-2.0
// Opening a file through MPI-IO, so that all openers have it or none.
#pragma once

#include <mpi.h>

#include "storage/mpi_io/choice.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::mpi_io {

/// All of file.openers, whose communicator this is. Throws Error(run_failed) on all of them, with the words of the
/// lowest that could not open it.
MPI_File open_together(const OpenFile& file, MPI_Comm comm, Implementation implementation);

}  // namespace leadline::storage::mpi_io
