// SPDX-License-Identifier: Apache-2.0
// The command line of `netgauge`, Netgauge 2.4.6 with the pattern ebb, turned into a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bisection/request.hpp"

namespace leadline::compat::netgauge {

enum class Action : std::uint8_t { run, help, pattern_help, version };

enum class Flag : bool { off, on };

/// What the lines on standard output show beside the numbers.
struct Shown {
  int verbosity = 1;  ///< 0 to 3
  Flag host_names = Flag::off;
  Flag pairs = Flag::off;
  Flag timer_check = Flag::off;
  std::vector<std::string> remarks;  ///< what became of options that Netgauge took otherwise, without line ends
};

struct Command {
  Action action = Action::run;
  bench::bisection::BisectionRequest request;
  Shown shown;
};

/// `arguments` as in argv. No side effects. Throws Error(bad_command_line) that names the argument.
Command parse(const std::vector<std::string>& arguments);

/// What -h prints, and --help behind -x ebb.
std::string help();
std::string pattern_help();

inline constexpr std::size_t max_sizes = 10'000;

struct SizeRange {
  std::uint64_t min_bytes = 1, max_bytes = 131072;
  std::vector<std::string> remarks;  ///< where Netgauge would have read something else
};

/// "A-B", "-B" (from 1), "N". Throws Error(bad_command_line) that names `option`, as all here.
SizeRange size_range(const std::string& option, const std::string& text);

/// From min to max, which always belongs to them: 2^(grad - 1) sizes an octave.
std::vector<std::uint64_t> sizes_in(const SizeRange& range, std::uint64_t grad);

}  // namespace leadline::compat::netgauge
