// SPDX-License-Identifier: Apache-2.0
// Values of historical options, turned into numbers; errors name the option, the value and what it may be.
#pragma once

#include <cstdint>
#include <string>

namespace leadline::compat {

inline constexpr std::uint64_t max_message_size_bytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t max_count = 1'000'000'000'000;
inline constexpr std::uint64_t max_repeats = 100'000;
inline constexpr std::uint64_t max_retests = 100'000;

/// Which numbers an option takes, and whose help says more.
struct NumberRange {
  std::uint64_t min = 0, max = max_count;
  const char* program = "";
};

/// A plain whole number. Throws Error(bad_command_line), as all here.
std::uint64_t whole_number(const std::string& option, const std::string& text, const NumberRange& range);

/// A plain number, fraction allowed, from `min`; never infinite.
double number_from(const std::string& option, const std::string& text, double min, const char* program);

}  // namespace leadline::compat
