// SPDX-License-Identifier: Apache-2.0
// Work that may kill its process, done in another one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace leadline::result {

// For libraries that die of damaged files, or never come back. Callers have no other threads. Nothing that the work
// does to memory is seen here; what it does to files and standard streams is.

/// What work may use.
struct Allowance {
  std::uint64_t work_s;        // of computing; in this process: no limit
  std::uint64_t memory_bytes;  // of address space, beyond what the process has
};

enum class Ending { returned, threw, died };

/// How `work` ends in a child that may use so much, and no more. Its words on standard error are lost.
Ending probe_in_child(const std::function<void()>& work, const Allowance& allowance);

/// Does the work in this process, which meanwhile has no more memory than that. Throws what it throws.
void run_with_memory_limit(const std::function<void()>& work, const Allowance& allowance);

/// Does the work; throws its Error. If the process crashes: run_failed, with the text given.
void run_in_subprocess(const std::string& problem, const std::string& why_it_died, const std::function<void()>& work);

}  // namespace leadline::result
