// SPDX-License-Identifier: Apache-2.0
// Joins an error's parts into one line, and looks up the system's error texts.
#include "core/error.hpp"

#include <string.h>

#include <utility>

#include "core/option_words.hpp"
#include "core/printable.hpp"

namespace leadline {
namespace {

/// A reason may come from a loader, a vendor library or a user's shell; whatever it holds, the message stays one line,
/// and no command for the terminal.
std::string compose(const std::string& problem, const std::string& why, const std::string& hint) {
  std::string text = problem;
  if (!why.empty()) text += " (" + why + ")";
  if (!hint.empty()) text += ". " + hint;
  return printable(text, LineEnds::replaced, ' ');
}

// strerror_r comes in two kinds, and headers decide which: GNU's returns the text, POSIX's a status.
std::string text_from(const char* text, const char* /*buffer*/, int /*error_number*/) { return text; }

[[maybe_unused]] std::string text_from(int status, const char* buffer, int error_number) {
  return status == 0 ? std::string(buffer) : "error " + std::to_string(error_number);
}

}  // namespace

Error::Error(ExitStatus status, std::string problem, std::string why, std::string hint)
    : status_(status),
      problem_(in_option_words(std::move(problem))),
      why_(in_option_words(std::move(why))),
      hint_(advice_in_option_words(std::move(hint))),
      text_(compose(problem_, why_, hint_)) {}

std::string system_error_text(int error_number) {
  char buffer[256] = {};
  return text_from(strerror_r(error_number, buffer, sizeof buffer), buffer, error_number);
}

}  // namespace leadline
