// SPDX-License-Identifier: Apache-2.0
// Netgauge's options by all their spellings: a command line as options with their values, not yet understood.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leadline::compat::netgauge {

enum class Option : std::uint8_t {
  size,
  grad,
  tests,
  time,
  summary_file,
  full_output,
  mode,
  pattern,
  verbosity,
  host_names,
  init_thread,
  sanity_check,
  server,
  manual_page,
  help,
  version,
  rounds,
  reps,
  buckets,
  print_pairs,
  host_name,
  pattern_help,
  seed,
  result,
  overwrite,
};

struct GivenOption {
  std::string word;   ///< the option as it was typed: "-s", "--size"
  std::string value;  ///< empty for flags
};

using GivenOptions = std::map<Option, GivenOption>;

/// All options of a command line. One that asks for a text to be printed ends it, and so does a pattern other than
/// "ebb": the rest is for others to read. Throws Error(bad_command_line) for what is no option, for a value that is
/// missing or unwanted, and for an option given twice.
GivenOptions given_options(const std::vector<std::string>& arguments);

}  // namespace leadline::compat::netgauge
