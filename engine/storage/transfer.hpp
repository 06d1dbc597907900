// SPDX-License-Identifier: Apache-2.0
// The words in which every backend tells of a transfer that went wrong.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "storage/storage.hpp"

namespace leadline::storage {

/// What was asked of one call.
struct Transfer {
  Access access = Access::write;
  std::uint64_t offset_bytes = 0, size_bytes = 0;
};

/// "writing 1 MiB at 12582912 of FILE failed (why)".
Error transfer_error(const Transfer& transfer, const std::string& path, const std::string& why);

/// "writing 1 MiB at 12582912 of FILE was not done in time".
Error late_error(const Transfer& transfer, const std::string& path);

/// "closing FILE failed (why)": what was written before is not on the storage.
Error close_error(const std::string& path, int error_number);

/// The system's words, and what to do about it where anything can be done.
Error transfer_error(const Transfer& transfer, const std::string& path, int error_number);

}  // namespace leadline::storage
