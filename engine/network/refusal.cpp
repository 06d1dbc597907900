// SPDX-License-Identifier: Apache-2.0
// The wording of what is wrong with a network.
#include "network/refusal.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "network/lines.hpp"

namespace leadline::network {

void refuse_word(std::string_view word, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("--topology cannot be {}", shown(word)), why, hint);
}

void refuse_file(const std::string& file, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("cannot use '{}' as a network", file), why, hint);
}

void Line::refuse(const std::string& why, const std::string& hint) const {
  refuse_file(file, fmt::format("line {}: {}", number, why), hint);
}

}  // namespace leadline::network
