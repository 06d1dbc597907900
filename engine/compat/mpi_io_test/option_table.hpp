// SPDX-License-Identifier: Apache-2.0
// The MPI-IO Test's options with their values, from the command line or a setup file, not yet understood.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace leadline::compat::mpi_io_test {

/// What stands behind an option.
enum class Follows : std::uint8_t {
  nothing,  ///< a flag; "=0" and "=1" may be glued to it
  value,    ///< one word
  hints,    ///< pairs of words, or k=v, up to the next word that begins with a dash
};

struct Option {
  const char* name;  ///< without its dash
  Follows follows = Follows::value;
};

/// All options, in the order of the guide.
std::span<const Option> options();

struct GivenOption {
  const Option* option = nullptr;
  std::string word;                                        ///< as errors name it: "-size", "--size"; with its origin
  std::string value;                                       ///< flags: "1" or "0"
  std::vector<std::pair<std::string, std::string>> hints;  ///< Follows::hints only
  std::string origin;                                      ///< "command line", "FILE, line 3"
};

/// Options in order, out of the words of a command line (without the program's name) or of one line of a setup file,
/// whose place is then `origin`. Throws Error(bad_command_line) for what is no option, and for values that are missing
/// or unwanted.
std::vector<GivenOption> options_in(std::span<const std::string> words, const std::string& origin = {});

/// Options in order, out of the text of a setup file: one in each line, as on the command line; quotes group words,
/// and # begins a comment. Throws Error(bad_command_line) that names file and line.
std::vector<GivenOption> options_in_setup(const std::string& path, const std::string& text);

/// `word` as it must stand in a setup file to be read as this.
std::string quoted(const std::string& word);

inline constexpr const char* where_more_is = "See mpi_io_test.x -help";

[[noreturn]] inline void refuse(const std::string& problem, const std::string& why,
                                const std::string& hint = where_more_is) {
  throw Error(ExitStatus::bad_command_line, problem, why, hint);
}

}  // namespace leadline::compat::mpi_io_test
