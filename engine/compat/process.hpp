// SPDX-License-Identifier: Apache-2.0
// What a historical front end says about its own process and about its files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace leadline::compat {

/// Local: memory of this process that lies in RAM; 0 where the system does not say.
std::uint64_t resident_bytes();

/// Local: the core that this thread runs on now; -1 where the system does not say.
int current_core();

/// Local: "PROGRAM: FILE is there already and will be replaced\n", or nothing. LinkTest replaced results without a
/// word.
std::string note_of_replacement(const std::string& program, const std::string& file);

/// Local: bytes that the ranks' records take in a SION file, without what is around them. Throws Error.
std::uint64_t bytes_of_records(const std::string& path);

/// Texts of a front end go through these; tests bring their own.
struct Outlet {
  std::function<void(const std::string& text)> out;  ///< results; may throw Error
  std::function<void(const std::string& text)> err;  ///< monitoring
};

/// Standard output and standard error.
Outlet standard_outlet();

}  // namespace leadline::compat
