// SPDX-License-Identifier: Apache-2.0
// The end of a command line of mpi_io_test.x that cannot be run.
#pragma once

#include <string>

#include "core/error.hpp"

namespace leadline::compat::mpi_io_test {

inline constexpr const char* where_more_is = "See mpi_io_test.x -help";

[[noreturn]] inline void refuse(const std::string& problem, const std::string& why,
                                const std::string& hint = where_more_is) {
  throw Error(ExitStatus::bad_command_line, problem, why, hint);
}

}  // namespace leadline::compat::mpi_io_test
