// SPDX-License-Identifier: Apache-2.0
// What a command says to whom: errors and results on the standard streams, which are there even where the caller
// closed them.
#pragma once

#include <functional>
#include <string>

#include "cluster/bootstrap.hpp"
#include "command/stopwatch.hpp"
#include "core/error.hpp"

namespace leadline::command {

/// The body of a main(): closed streams occupied, SIGPIPE and SIGXFSZ ignored (a write then says what is wrong, and no
/// rank dies of it); then `body`, whose errors one rank reports once, as far as the launcher shows which. Returns the
/// exit status. Never throws.
int reported(cluster::FrontEnd front_end, const std::function<int()>& body) noexcept;

/// Before anything is opened: a stream that the caller has closed becomes one that discards everything. Otherwise the
/// next file or connection would get its number, and text for people would go there.
void occupy_closed_streams();

/// To standard output, at once, without what a terminal takes for a command (names of hosts and files may hold it).
/// Throws Error(run_failed), or Error(output_closed) where its reader has gone.
void say(const std::string& text);

/// The same beside a measurement, which goes on and keeps its own exit status where nobody reads its text.
void say_if_read(const std::string& text);

/// What --verbose tells: a line on standard error for each step that is done.
class StepLog {
 public:
  /// `command` as in "leadline convert".
  StepLog(std::string command, bool is_verbose) : command_(std::move(command)), is_verbose_(is_verbose) {}

  /// "leadline convert: TEXT"
  void tell(const std::string& text) const;
  /// The same with the time since the last step: "leadline convert: read 'r.h5' (0.012 s)"
  void done(const std::string& step);

 private:
  std::string command_;
  bool is_verbose_;
  Stopwatch since_last_;
};

/// The one line on standard error. Never throws: a failure to write it cannot be reported.
void complain(const std::string& what) noexcept;

/// The same for an error; nothing where it is only that standard output's reader has gone.
void complain(const Error& error) noexcept;

}  // namespace leadline::command
