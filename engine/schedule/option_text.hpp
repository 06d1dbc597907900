// SPDX-License-Identifier: Apache-2.0
// A word of the command line that names a topology or a pattern, for messages about it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace leadline::schedule {

struct OptionText {
  const std::string& option;
  std::string_view text;

  [[noreturn]] void refuse(const std::string& why, const std::string& hint) const {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be '{}'", option, text), why, hint);
  }
};

}  // namespace leadline::schedule
