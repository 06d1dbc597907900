// SPDX-License-Identifier: Apache-2.0
// The program `leadline`: runs a command and turns an error into one line and an exit status.
#pragma once

namespace leadline::cli {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::cli
