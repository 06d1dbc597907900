// SPDX-License-Identifier: Apache-2.0
// Ranks that were started by hand or by a script: everything is in LEADLINE_* environment variables.
#pragma once

#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// From LEADLINE_SIZE, LEADLINE_RANK, LEADLINE_SECRET (at least 16 characters) and, for every rank r,
/// LEADLINE_ADDRESS_r and LEADLINE_PORT_r. Local. Throws Error(bad_command_line) naming the first variable that is
/// missing or makes no sense; those of the other ranks are looked at when they are needed.
std::unique_ptr<Bootstrap> environment_bootstrap();

}  // namespace leadline::cluster
