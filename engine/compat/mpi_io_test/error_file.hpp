// SPDX-License-Identifier: Apache-2.0
// The file of -errout, which takes the place of standard error.
#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"

namespace leadline::compat::mpi_io_test {

/// Local: from now on what goes to standard error goes to the file, which is made anew. An error is given back, since
/// the ranks do not know each other yet and must agree on it later.
std::optional<Error> redirect_errors(const std::string& path);

}  // namespace leadline::compat::mpi_io_test
