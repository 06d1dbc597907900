// SPDX-License-Identifier: Apache-2.0
// Result files that a command takes: those of the link test.
#pragma once

#include <cstddef>
#include <string>

namespace leadline::cli {

/// Threads that work on such a file: what a login node can spare.
inline constexpr std::size_t workers_on_file = 2;

/// Throws Error(bad_command_line) where the file is a result of another test. `verb`: what the command would have done.
void expect_link_test(const std::string& path, const std::string& verb);

}  // namespace leadline::cli
