// SPDX-License-Identifier: Apache-2.0
// The program `linktest`: LinkTest 2.x's command lines, output and files, measured by the engine.
#pragma once

namespace leadline::compat::linktest {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::linktest
