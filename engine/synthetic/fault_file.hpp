// SPDX-License-Identifier: Apache-2.0
// The faults of a simulated machine, from a file (docs/formats/simulated-faults.md).
#pragma once

#include <string>

#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// Adds speeds, noise and faults of the text to the machine, by whose hosts and switches (name or number), ranks and
/// sockets they are checked. Throws Error(bad_command_line) that names `file`, the key and the reason.
void parse_faults(const std::string& text, const std::string& file, Machine& machine);

/// The same from the file.
void load_faults(const std::string& file, Machine& machine);

}  // namespace leadline::synthetic
