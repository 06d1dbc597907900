// SPDX-License-Identifier: Apache-2.0
// The lines and words of a text that describes a network, and the errors about them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::network {

/// Lines one after the other, without their ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Nothing behind the last one.
  std::optional<std::string_view> next();

  /// Of the line that next() gave last, from 1.
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// What stands between blanks.
std::vector<std::string_view> words_of(std::string_view line);

/// What stands between separators; one part more than there are of them.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Lower case, of ASCII letters only.
std::string lowered(std::string_view text);

/// In quotes for a message, and not all of it where it is long.
std::string shown(std::string_view text);

/// Throws Error(bad_command_line): "--topology cannot be 'WORD' (why). hint".
[[noreturn]] void refuse_word(std::string_view word, const std::string& why, const std::string& hint);

/// Throws Error(bad_command_line): "cannot use 'FILE' as a network (why). hint".
[[noreturn]] void refuse_file(const std::string& file, const std::string& why, const std::string& hint = {});

/// A line of a file, for messages about it.
struct Line {
  const std::string& file;
  std::size_t number = 0;  ///< from 1; 0 = the text is no file

  /// As refuse_file(), with "line N: " before the reason. Where the text is no file, "FILE cannot be used".
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const;
};

}  // namespace leadline::network
