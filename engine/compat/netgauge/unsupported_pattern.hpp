// SPDX-License-Identifier: Apache-2.0
// Netgauge's patterns beside ebb, and where to go with them.
#pragma once

#include <string>

namespace leadline::compat::netgauge {

/// Throws Error(bad_command_line): `pattern` is not measured here; what measures something like it, if anything does.
[[noreturn]] void refuse_pattern(const std::string& option, const std::string& pattern);

}  // namespace leadline::compat::netgauge
