// SPDX-License-Identifier: Apache-2.0
// A user's mistake in naming a network, as an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leadline::network {

/// Throws Error(bad_command_line): "--topology cannot be 'WORD' (why). hint".
[[noreturn]] void refuse_word(std::string_view word, const std::string& why, const std::string& hint);

/// Throws Error(bad_command_line): "cannot use 'FILE' as a network (why). hint".
[[noreturn]] void refuse_file(const std::string& file, const std::string& why, const std::string& hint = {});

/// A line of a file, for messages about it.
struct Line {
  const std::string& file;
  std::size_t number = 0;  ///< from 1

  /// As refuse_file(), with "line N: " before the reason.
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const;
};

}  // namespace leadline::network
