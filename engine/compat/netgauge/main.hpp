// SPDX-License-Identifier: Apache-2.0
// The program `netgauge`: command lines of Netgauge's pattern ebb and their output, measured by the engine.
#pragma once

namespace leadline::compat::netgauge {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

}  // namespace leadline::compat::netgauge
