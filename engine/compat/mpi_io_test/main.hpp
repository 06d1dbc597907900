// SPDX-License-Identifier: Apache-2.0
// The program `mpi_io_test.x`: command lines of the MPI-IO Test and their output, measured by the engine.
#pragma once

namespace leadline::compat::mpi_io_test {

/// The body of main(): 0, or 255 where anything went wrong, as the guide has it. Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::mpi_io_test
