// SPDX-License-Identifier: Apache-2.0
// The program `leadline`: picks a command and turns what went wrong into one line and an exit status.
#pragma once

namespace leadline::cli {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::cli
