// SPDX-License-Identifier: Apache-2.0
// The program `nettest`: command lines of NETTEST.
#include "compat/main.hpp"

int main(int argc, char** argv) { return leadline::compat::nettest::run(argc, argv); }
