// SPDX-License-Identifier: Apache-2.0
// The program `mpilinktest`: LinkTest 1.2's command lines, output and files, measured by the engine.
#pragma once

namespace leadline::compat::mpilinktest {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::mpilinktest
