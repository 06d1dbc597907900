// SPDX-License-Identifier: Apache-2.0
// Environment variables that say who a rank is: read strictly, with errors that name the variable.
#pragma once

#include <string>

namespace leadline::cluster {

/// Throws Error(bad_command_line).
[[noreturn]] void bad_variable(const std::string& name, const std::string& why, const std::string& hint);

/// Local. Throws Error(bad_command_line) where it is not set, or empty.
std::string text_of_variable(const std::string& name, const std::string& hint);

/// Local. Throws Error(bad_command_line) where it is not set, no number, or not from `min` to `max`.
int number_of_variable(const std::string& name, int min, int max, const std::string& hint);

/// Local: LEADLINE_SECRET; empty where it is not set. Throws Error(bad_command_line) where it is too short.
std::string given_secret();

/// The same where it has to be set.
std::string required_secret();

}  // namespace leadline::cluster
