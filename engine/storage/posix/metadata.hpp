// SPDX-License-Identifier: Apache-2.0
// The system's calls on whole files and directories: to make, look at, open and remove them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/descriptor.hpp"

namespace leadline::storage::posix {

// Local. Each is one system call, or as many as it takes where a signal or the file system makes it shorter. Nothing
// allocates unless it fails. Throws Error(run_failed): "creating FILE failed (Disk quota exceeded)".

/// It must not be there.
void make_directory(const std::string& path);
/// It must be empty.
void remove_directory(const std::string& path);
/// To be written; it must not be there.
Descriptor create_file(const std::string& path);
/// To be read.
Descriptor open_file(const std::string& path);
/// Its size.
std::uint64_t stat_file(const std::string& path);
void unlink_file(const std::string& path);

/// From the beginning on, all of it.
void write_file(const Descriptor& file, std::span<const std::byte> data, const std::string& path);
/// From the beginning on; bytes read, fewer than asked where the file ends before.
std::size_t read_file(const Descriptor& file, std::span<std::byte> data, const std::string& path);
void sync_file(const Descriptor& file, const std::string& path);
void close_file(Descriptor& file, const std::string& path);

}  // namespace leadline::storage::posix
