// SPDX-License-Identifier: Apache-2.0
// What `mpi_io_test.x` prints while phases come in.
#pragma once

#include <memory>

#include "bench/io/output.hpp"
#include "compat/mpi_io_test/options.hpp"
#include "compat/process.hpp"
#include "model/io_result.hpp"

namespace leadline::compat::mpi_io_test {

/// Rank 0: prints what stands above a phase when it begins and its lines when it has ended. `num_shown` counts the
/// latter; it outlives the progress.
std::unique_ptr<bench::io::Progress> make_progress(const IoResult& so_far, Shown shown, Outlet outlet,
                                                   std::size_t& num_shown);

}  // namespace leadline::compat::mpi_io_test
