// SPDX-License-Identifier: Apache-2.0
// The backend on the system's own calls: open, pread and pwrite, POSIX AIO, io_uring.
#pragma once

#include "storage/storage.hpp"

namespace leadline::storage::posix {

/// Needs no library and no launcher, so it is part of the program.
const Module& module();

}  // namespace leadline::storage::posix
