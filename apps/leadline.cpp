// SPDX-License-Identifier: Apache-2.0
// The program `leadline`.
#include "cli/main.hpp"

int main(int argc, char** argv) { return leadline::cli::run(argc, argv); }
