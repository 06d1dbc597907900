// SPDX-License-Identifier: Apache-2.0
// The program `mpi_io_test.x`: command lines of the MPI-IO Test user's guide.
#include "compat/main.hpp"

int main(int argc, char** argv) { return leadline::compat::mpi_io_test::run(argc, argv); }
