// SPDX-License-Identifier: Apache-2.0
// The command line of `nettest`, the NETTEST of 2003, turned into a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/topology/request.hpp"

namespace leadline::compat::nettest {

/// What a table may have: rows of all repeats, and different lengths.
inline constexpr std::size_t max_rows = 100'000, max_lengths = 10'000;

/// The lengths of messages as NETTEST counts them, in units.
struct Lengths {
  char unit = 'K';  ///< b, K or M
  std::uint64_t min = 1, max = 1;
  std::uint64_t step = 0;        ///< 0 = none, or a multiplier instead
  std::uint64_t multiplier = 0;  ///< 0 = none
};

/// Of a unit's letter.
std::uint64_t unit_bytes(char unit);

enum class Action : std::uint8_t { run, help };

struct Command {
  Action action = Action::run;
  Lengths lengths;
  bench::topology::TopologyRequest request;
  std::string file;         ///< o; empty = standard output
  std::string unused_step;  ///< s where K is given too, as it was typed
};

/// `arguments` as in argv. No side effects. Throws Error(bad_command_line) that names the argument.
Command parse(const std::vector<std::string>& arguments);

/// What -h and --help print.
std::string usage();

}  // namespace leadline::compat::nettest
