// SPDX-License-Identifier: Apache-2.0
// What is wrong with a make-believe machine, from a file (docs/formats/simulated-faults.md).
#pragma once

#include <string>

#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// Puts speeds, noise and faults of the text into the machine, which says what can be: hosts and switches by name or
/// number, ranks, sockets. Throws Error(bad_command_line) that names `file`, the key and the reason.
void parse_faults(const std::string& text, const std::string& file, Machine& machine);

/// The same from the file.
void load_faults(const std::string& file, Machine& machine);

}  // namespace leadline::synthetic
