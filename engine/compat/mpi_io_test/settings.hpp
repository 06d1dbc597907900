// SPDX-License-Identifier: Apache-2.0
// All options of a run: the setup file's, and over them those of the command line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compat/mpi_io_test/option_table.hpp"
#include "compat/mpi_io_test/options.hpp"

namespace leadline::compat::mpi_io_test {

class Settings {
 public:
  /// Out of a command line with the program's name.
  Settings(const std::vector<std::string>& arguments, const ReadSetup& read_setup);

  /// Whether a flag is on, or an option with a value was given.
  bool has(std::string_view name) const;
  /// As given; nullptr where it was not.
  const GivenOption* find(std::string_view name) const;
  /// As given, or `otherwise`.
  std::string value(std::string_view name, const std::string& otherwise = {}) const;

  /// As a setup file, each with its origin; `defaults` for what was not given.
  std::string text(const std::map<std::string, std::string>& defaults) const;

 private:
  void take(GivenOption given);

  std::map<std::string, GivenOption, std::less<>> given_;
};

}  // namespace leadline::compat::mpi_io_test
