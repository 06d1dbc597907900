// SPDX-License-Identifier: Apache-2.0
// How much memory a process may lock, which bounds what a library registers with an adapter.
#pragma once

#include <string>

#include "transport/transport.hpp"

namespace leadline::transport {

/// "8.0 MiB", "unlimited", "unknown"
std::string locked_memory_limit();

/// The same for Module::facts().
Fact locked_memory();

}  // namespace leadline::transport
