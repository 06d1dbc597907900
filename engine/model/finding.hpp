// SPDX-License-Identifier: Apache-2.0
// Something a person should look at, with its evidence and advice.
#pragma once

#include <cstdint>
#include <string>

namespace leadline {

enum class Severity : std::uint8_t { note, warning };

struct Finding {
  std::string id;  ///< stable, snake_case: "oversubscribed", "not_bound", "clock_too_coarse", "loop_to_itself"
  Severity severity = Severity::note;
  std::string message;   ///< one sentence
  std::string evidence;  ///< the numbers behind it
  std::string advice;    ///< what to do
};

const char* name_of(Severity severity);

}  // namespace leadline
