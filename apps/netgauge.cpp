// SPDX-License-Identifier: Apache-2.0
// The program `netgauge`: command lines of Netgauge's effective bisection bandwidth.
#include "compat/main.hpp"

int main(int argc, char** argv) { return leadline::compat::netgauge::run(argc, argv); }
