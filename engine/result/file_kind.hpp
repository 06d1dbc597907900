// SPDX-License-Identifier: Apache-2.0
// Which kind of file a result is, which benchmark's, and how to work with one that may be damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/json.hpp"

namespace leadline::result {

enum class FileKind : std::uint8_t { hdf5, sion, other };

/// By content, whatever its name. Throws Error naming the file: bad_command_line (no such file, no regular file),
/// something_missing (no permission), run_failed (cannot be read; empty; the beginning of HDF5 alone).
FileKind kind_of_file(const std::string& path);

/// Which test a file of that kind is a result of: "link", "topology", "bisection", "congestion", "collective", "io".
/// SION has none but "link", whatever is in the file. Throws as kind_of_file and hdf5::read_benchmark do.
std::string benchmark_of(const std::string& path, FileKind kind);

/// Does work with a file of that kind. A crash of the HDF5 library ends another process, and becomes an
/// Error.
void work_with(const std::string& path, FileKind kind, const std::function<void()>& work);

/// "cannot read 'PATH' (damaged: what)".
[[noreturn]] void throw_damaged(const std::string& path, const std::string& what);

/// Reads /summary of a file, where it has one. `test`: "a topology test"; `part`: a position beyond the file, thrown as
/// std::out_of_range, is one of "a message size". Throws as throw_damaged() for what is no such summary.
void read_summary(const std::optional<std::string>& summary, const std::string& path, const char* test,
                  const std::function<void(const Json& summary)>& read, const char* part = "a part");

}  // namespace leadline::result
