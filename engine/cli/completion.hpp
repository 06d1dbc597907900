// SPDX-License-Identifier: Apache-2.0
// Completion scripts for shells, made from what the commands tell of their options.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace leadline::cli {

struct CompletedCommand {
  std::string name;  ///< one word, or two
  std::string purpose;
  Json description;  ///< as --describe-options prints; null where nothing is known of its options
};

/// The shells that there are scripts for.
extern const std::vector<std::string> completion_shells;

/// The script for one of them. It runs no program when it completes. Throws Error(bad_command_line) for another shell.
std::string completion_script(const std::string& shell, const std::vector<CompletedCommand>& commands);

}  // namespace leadline::cli
