// SPDX-License-Identifier: Apache-2.0
// Work that may kill its process, done in another one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace leadline::result {

// For libraries that die of damaged files, or never come back. Callers have no other threads. Nothing that the work
// does to memory is seen here; what it does to files and standard streams is.

/// Whether `work` comes to its end, with or without an exception, within so many seconds of computing. Its words on
/// standard error are lost.
bool probe_in_child(const std::function<void()>& work, std::uint64_t most_work_s);

/// Does the work; throws its Error. If the process crashes: run_failed, with the text given.
void run_in_subprocess(const std::string& problem, const std::string& why_it_died, const std::function<void()>& work);

}  // namespace leadline::result
