// SPDX-License-Identifier: Apache-2.0
// Names of hosts as Slurm writes them in short: "n[0-15,20],m3".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/lines.hpp"

namespace leadline::network {

/// The names in the order of the list. Numbers keep the leading zeros of the first of their range ("n[08-10]" is n08
/// n09 n10); of several brackets the last varies fastest. Throws Error(bad_command_line) that names file and line; more
/// than `most_names` are refused before they are made.
std::vector<std::string> expand_hostlist(const Line& line, std::string_view list, std::size_t most_names);

/// The names in short, each once: those that differ in one number, the last one where several differ, share a bracket.
/// Sorted within a bracket, else in the order of the names. What it writes, expand_hostlist() reads, unless a name has
/// a bracket or a comma.
std::string folded_hostlist(std::span<const std::string> names);

}  // namespace leadline::network
