// SPDX-License-Identifier: Apache-2.0
// The command line of `mpilinktest`, LinkTest 1.2, turned into a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/link/request.hpp"

namespace leadline::compat::mpilinktest {

enum class Action : std::uint8_t { run, help, version, usage };

struct Command {
  Action action = Action::run;
  std::string unknown;                       ///< of Action::usage: the word that was not understood
  bench::link::LinkRequest request;          ///< of Action::run; retest is num_slowest as far as it was given
  std::optional<std::uint64_t> num_slowest;  ///< -Z; otherwise as many as there are ranks, and never more
  std::uint64_t summary_interval = 32;       ///< -C: steps from one running summary to the next
  std::vector<std::string> remarks;          ///< what became of options that do nothing here, without line ends
};

/// `arguments` as in argv. No side effects. Throws Error(bad_command_line) for values that LinkTest 1.2 read wrongly or
/// died of.
Command parse(const std::vector<std::string>& arguments);

/// What -h and any unknown word print.
std::string usage();

/// What -V prints.
std::string version_line();

/// For a run of so many ranks.
int num_retests(const Command& command, int num_ranks);

/// Whether the test is to be repeated, so that every iteration has a file of its own.
bool is_repeated(const bench::link::LinkRequest& request);

/// The name of that file: "x.sion" -> "x_i001.sion" for the first iteration (1).
std::string file_of_iteration(const std::string& path, int iteration);

}  // namespace leadline::compat::mpilinktest
