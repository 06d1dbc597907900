// SPDX-License-Identifier: Apache-2.0
// Which kind of file a result is, which benchmark's, and how to work with one that may be damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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

}  // namespace leadline::result
