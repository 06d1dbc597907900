// SPDX-License-Identifier: Apache-2.0
// What calls are put through before they are trusted; the same for every backend.
#pragma once

#include <string>

#include "storage/storage.hpp"

namespace leadline::storage {

/// Local, rank 0 alone opens; in a process of its own, whose limit of file sizes is lowered. Does such
/// calls on the scratch file: all well and read back, at its end and beyond, and beyond what the file may grow to. The
/// reason why they cannot be trusted, or empty; may crash or hang.
std::string try_calls_of(Backend& backend, const CallKind& kind, const std::string& scratch_path);

}  // namespace leadline::storage
