// SPDX-License-Identifier: Apache-2.0
// The text that the MPI-IO Test prints, each part a pure function of what is in it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/io/output.hpp"
#include "bench/io/result.hpp"
#include "compat/mpi_io_test/options.hpp"
#include "compat/process.hpp"

namespace leadline::compat::mpi_io_test {

// Times are in seconds. Bandwidths are in MiB/s, which the guide calls Mbytes/s: min is all bytes over the time of the
// slowest process, avg over the mean time. The old third figure, all bytes over the time of the fastest process, is no
// bandwidth of anything and is left out, with its word in the brackets.

/// The value of an environment variable; nullptr where there is none.
using Environment = std::function<const char*(const char* name)>;

/// Parameters, known variables, hosts: what stands above all phases.
std::string opening(const Shown& shown, const bench::io::IoResult& so_far, const Environment& environment);

/// The line above a phase.
std::string above_phase(const bench::io::IoResult& so_far, const bench::io::PhasePosition& position);

/// The lines of a phase, down to "Completed". A line stands where some process did such a thing at all.
std::string phase_lines(const Shown& shown, const bench::io::IoResult& so_far, const bench::io::PhaseSummary& phase);

/// Below all phases: the hints in force, where any were given.
std::string ending(const bench::io::IoResult& result);

/// The engine's advice in this program's words: its -sync takes no value.
std::string without_sync_values(std::string text);

/// "mpi_io_test.x: REMARK\n" for each.
std::string remark_lines(const Shown& shown);

/// "NAME=value\n" for each that is set. The old program printed every variable with MPI in it, secrets too.
std::string tuning_lines(const Environment& environment);

/// Rank 0: prints what stands above a phase when it begins and its lines when it has ended. `num_shown` counts the
/// latter; it outlives the progress.
std::unique_ptr<bench::io::Progress> make_progress(const bench::io::IoResult& so_far, Shown shown, Outlet outlet,
                                                   std::size_t& num_shown);

}  // namespace leadline::compat::mpi_io_test
