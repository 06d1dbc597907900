// SPDX-License-Identifier: Apache-2.0
// The last thing a program does: an error becomes one line and an exit status.
#pragma once

#include <functional>

#include "cluster/launcher.hpp"

namespace leadline::cli {

/// The body of a main(): closed streams occupied, then `body`, whose errors one rank reports once, as far as the
/// launcher shows which. Returns the exit status. Never throws.
int reported(cluster::FrontEnd front_end, const std::function<int()>& body) noexcept;

}  // namespace leadline::cli
