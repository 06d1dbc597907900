// SPDX-License-Identifier: Apache-2.0
// Values of options as people type them, turned into numbers and choices; errors name the option and its value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/named.hpp"

namespace leadline {

/// A whole number from min to max. Throws Error(bad_command_line), as all here.
std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t min, std::uint64_t max);

/// A time such as "30", "30s", "1.5m", "200us", "2h"; seconds where no unit stands. At least `min_s`.
double parse_seconds(const std::string& option, const std::string& text, double min_s);

/// A size from min to max bytes.
std::uint64_t parse_size(const std::string& option, const std::string& text, std::uint64_t min, std::uint64_t max);

/// A share such as "1%", "2.5 %" or "0.01", from `least` to 1.
double parse_share(const std::string& option, const std::string& text, double least);

/// "star,ring" -> star ring. Always at least one word; words may be empty.
std::vector<std::string> words_of(const std::string& list, char separator = ',');

/// "3,1,7-9" -> 3 1 7 8 9; positive whole numbers.
std::vector<std::int64_t> parse_rounds(const std::string& option, const std::string& text);

[[noreturn]] void throw_bad_value(const std::string& option, const std::string& text, const std::string& why,
                                  const std::string& hint = {});

/// "OPTION has no effect here (WHY). Leave it out"
[[noreturn]] void throw_no_effect(const std::string& option, const std::string& why);

/// "OPTION and OTHER do not go together (WHY). Leave out one of them"
[[noreturn]] void throw_apart(const std::string& option, const std::string& other, const std::string& why);

/// The value of an enum whose name is `text`, of those in the table.
template <class Value>
Value parse_choice(const std::string& option, const std::string& text, std::span<const Named<Value>> choices) {
  std::string names;
  for (const Named<Value>& choice : choices) {
    if (choice.name == text) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  throw_bad_value(option, text, "it must be one of " + names);
}

}  // namespace leadline
