// SPDX-License-Identifier: Apache-2.0
// Environment variables that change how files are written: the only ones that are printed.
#pragma once

#include <string>

#include "compat/mpi_io_test/text.hpp"

namespace leadline::compat::mpi_io_test {

/// "NAME=value\n" for each that is set. The old program printed every variable with MPI in it, secrets too.
std::string tuning_lines(const Environment& environment);

}  // namespace leadline::compat::mpi_io_test
