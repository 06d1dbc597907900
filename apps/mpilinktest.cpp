// SPDX-License-Identifier: Apache-2.0
// The program `mpilinktest`: command lines of LinkTest 1.2.
#include "compat/main.hpp"

int main(int argc, char** argv) { return leadline::compat::mpilinktest::run(argc, argv); }
