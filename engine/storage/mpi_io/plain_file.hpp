// SPDX-License-Identifier: Apache-2.0
// The same file without MPI: asked for the system's error where MPI has failed and does not say why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace leadline::storage::mpi_io {

/// Local, behind a call that failed: one byte of it once more, by pwrite or pread. The errno, or 0 where that went
/// well.
int error_of_plain_write(const std::string& path, std::uint64_t offset_bytes, std::byte byte);
int error_of_plain_read(const std::string& path, std::uint64_t offset_bytes);

/// Local: its size as whoever opens it now sees it; 0 where it cannot be opened.
std::uint64_t plain_size_bytes(const std::string& path);

}  // namespace leadline::storage::mpi_io
