// SPDX-License-Identifier: Apache-2.0
// Joins an error's parts into one line, and looks up the system's error texts.
#include "core/error.hpp"

#include <string.h>

#include <utility>

#include "core/option_words.hpp"
#include "core/printable.hpp"

namespace leadline {

// docs/exit-status.md shows them.
constexpr Named<ExitStatus> exit_status_names[] = {
    {ExitStatus::ok, "ok", "All is fine"},
    {ExitStatus::below_threshold, "below_threshold",
     "The run was done, and one of these holds. A condition that you asked for is not met (--strict, --fail-below, "
     "--fail-above, --health-check). Hosts are bad (leadline check). Limits are not kept (leadline accept). Ranks or "
     "pairs of ranks were lost"},
    {ExitStatus::bad_command_line, "bad_command_line",
     "The command line is wrong, or a file is missing or of another kind"},
    {ExitStatus::something_missing, "something_missing",
     "Something that is needed is missing here, or nothing could be tested"},
    {ExitStatus::run_failed, "run_failed",
     "The run failed on the way, or a file is damaged. An error that nobody expected has this status, too"},
    {ExitStatus::output_closed, "output_closed",
     "Nobody reads standard output any more: 128 + SIGPIPE, as a shell shows it"},
};

std::span<const Named<ExitStatus>> names_of(ExitStatus /*any*/) { return exit_status_names; }
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
