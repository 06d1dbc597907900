// SPDX-License-Identifier: Apache-2.0
// Standard output and standard error, for programs that must notice that output cannot be written.
#pragma once

#include <string>

namespace leadline::cli {

/// Before anything is opened: a stream that the caller has closed becomes one that discards everything. Otherwise the
/// next file or connection would get its number, and text for people would go there.
void occupy_closed_streams();

/// To standard output, at once. Throws Error(run_failed).
void say(const std::string& text);

/// The one line on standard error. Never throws: a failure to write it cannot be reported.
void complain(const std::string& what) noexcept;

}  // namespace leadline::cli
