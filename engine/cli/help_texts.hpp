// SPDX-License-Identifier: Apache-2.0
// Ends of help texts that several commands share.
#pragma once

namespace leadline::cli {

/// How sizes are written.
inline constexpr const char* sizes_help =
    "Sizes: 1024, 1KiB, 16MiB (1024-based), 1MB (1000-based); 8B,1KiB,4MiB is a list, 1B-4MiB doubles each time,\n"
    "1KiB-1MiB*4 multiplies by 4, 100B-1000B+100B adds 100 B.\n";

/// What the exit status means.
inline constexpr const char* exit_status_help =
    "Exit status: 0 fine, 2 the command line is wrong, 3 something is missing here, 4 the run failed on the way.\n";

}  // namespace leadline::cli
