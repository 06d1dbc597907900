// SPDX-License-Identifier: Apache-2.0
// The program `linktest`: command lines of LinkTest 2.x.
#include "compat/main.hpp"

int main(int argc, char** argv) { return leadline::compat::linktest::run(argc, argv); }
