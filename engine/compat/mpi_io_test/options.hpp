// SPDX-License-Identifier: Apache-2.0
// The command line of `mpi_io_test.x`, that of the MPI-IO Test user's guide 1.0, turned into a request.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/io/request.hpp"

namespace leadline::compat::mpi_io_test {

enum class Action : std::uint8_t { run, help, print_setup };

enum class Flag : bool { off, on };

/// What the text shows beside the numbers, and where it goes.
struct Shown {
  Flag times_of_ranks = Flag::off;   ///< -verbose
  Flag hosts = Flag::off;            ///< -lhosts
  std::string num_io;                ///< as given; empty = not given
  std::string output, errout;        ///< files; empty = standard output, standard error
  std::vector<std::string> remarks;  ///< what became of options that do nothing here, without line ends
};

struct Command {
  Action action = Action::run;
  bench::io::IoRequest request;
  Shown shown;
  std::optional<std::uint64_t> num_ranks_needed;  ///< types 1 and 2: -num_io must be the number of ranks
  std::string setup;                              ///< with Action::print_setup: all settings, as a setup file
};

/// The text of the file that -setup names. May throw Error(bad_command_line).
using ReadSetup = std::function<std::string(const std::string& path)>;

/// `arguments` as in argv. No side effects but those of `read_setup`. Throws Error(bad_command_line) that names the
/// argument, and the line of the setup file where it stands in one.
Command parse(const std::vector<std::string>& arguments, const ReadSetup& read_setup);

/// What -help prints.
std::string help();

/// A whole number with one of the guide's suffixes right behind it, or none: w 2, b 512, KB MB GB TB powers of 1000,
/// K M G T and KiB MiB GiB TiB powers of 1024; upper and lower case differ. Throws Error(bad_command_line) that calls
/// the option `option`.
std::uint64_t parse_size(const std::string& option, const std::string& text);

}  // namespace leadline::compat::mpi_io_test
