// SPDX-License-Identifier: Apache-2.0
// Errors as a user reads them: problem (why). hint - and the exit status that goes with each.
#pragma once

#include <exception>
#include <span>
#include <string>

#include "core/named.hpp"

namespace leadline {

/// The program's exit statuses.
enum class ExitStatus : int {
  ok = 0,
  below_threshold = 1,
  bad_command_line = 2,
  something_missing = 3,
  run_failed = 4,
  output_closed = 141,  ///< nobody reads standard output any more: 128 + SIGPIPE, and no line about it
};

std::span<const Named<ExitStatus>> names_of(ExitStatus any);

/// Something wrong outside the program: a user's word, a file, the network. Caught only where a process ends
/// or where ranks agree on one decision. `why` and `hint` may be empty. Options have the names of option_words.hpp.
class Error : public std::exception {
 public:
  Error(ExitStatus status, std::string problem, std::string why = {}, std::string hint = {});

  /// "problem (why). hint"; the one line that a user sees behind "leadline: ".
  const char* what() const noexcept override { return text_.c_str(); }
  ExitStatus status() const noexcept { return status_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& why() const noexcept { return why_; }
  const std::string& hint() const noexcept { return hint_; }
  /// Why; the problem where it does not say why.
  const std::string& reason() const noexcept { return why_.empty() ? problem_ : why_; }

 private:
  ExitStatus status_;
  std::string problem_, why_, hint_, text_;
};

/// An error that every rank throws alike, because the ranks agreed on it: the run may end in order, one rank reports.
class AgreedError : public Error {
 public:
  explicit AgreedError(const Error& error) : Error(error) {}
};

/// The system's text for an error number ("No space left on device"); safe to call from any thread.
std::string system_error_text(int error_number);

}  // namespace leadline
