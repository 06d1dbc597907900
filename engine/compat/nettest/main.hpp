// SPDX-License-Identifier: Apache-2.0
// The program `nettest`: NETTEST's command lines and its table, measured by the engine.
#pragma once

namespace leadline::compat::nettest {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::nettest
