// SPDX-License-Identifier: Apache-2.0
// The bodies of main() of the historical front ends. They never throw.
#pragma once

namespace leadline::compat::linktest {

/// `linktest`: LinkTest 2.x's command lines, output and files, measured by the engine.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::linktest

namespace leadline::compat::mpilinktest {

/// `mpilinktest`: LinkTest 1.2's command lines, output and files, measured by the engine.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::mpilinktest

namespace leadline::compat::mpi_io_test {

/// `mpi_io_test.x`: command lines of the MPI-IO Test and their output, measured by the engine.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::mpi_io_test

namespace leadline::compat::netgauge {

/// `netgauge`: command lines of Netgauge's pattern ebb and their output, measured by the engine.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::netgauge

namespace leadline::compat::nettest {

/// `nettest`: NETTEST's command lines and its table, measured by the engine.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::nettest
