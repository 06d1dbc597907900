// SPDX-License-Identifier: Apache-2.0
// Sizes as the guide writes them: "64K", "2b", "1GB".
#pragma once

#include <cstdint>
#include <string>

namespace leadline::compat::mpi_io_test {

/// A whole number with one of the guide's suffixes right behind it, or none: w 2, b 512, KB MB GB TB powers of 1000,
/// K M G T and KiB MiB GiB TiB powers of 1024; upper and lower case differ. Throws Error(bad_command_line) that calls
/// the option `option`.
std::uint64_t parse_size(const std::string& option, const std::string& text);

}  // namespace leadline::compat::mpi_io_test
