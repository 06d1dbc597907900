// SPDX-License-Identifier: Apache-2.0
// What the readers under the fuzzer share: what they may do with an input, and what is counted.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace leadline::fuzz {

/// Ends the fuzzer, which keeps the input.
[[noreturn]] void fail(const char* what);
inline void expect(bool is_true, const char* what) {
  if (!is_true) fail(what);
}

/// An input may be refused with an Error of one line that says why. Anything else that is thrown ends the fuzzer.
void allowing_errors(const std::function<void()>& action);

void write_file(const std::string& path, std::string_view bytes);

/// While it lives, no more than so many bytes may be allocated beside those that are.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t num_bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

void read_sion(std::string_view bytes);

/// One of the commands info, diagnose, convert on a result file; which one, the bytes decide. HDF5 is read by a child
/// process.
void read_result_file(std::string_view bytes);
/// Writes results of all benchmarks, for the fuzzer to begin with.
void write_result_files(const std::string& folder);

}  // namespace leadline::fuzz
