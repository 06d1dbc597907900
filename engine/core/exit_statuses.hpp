// SPDX-License-Identifier: Apache-2.0
// What each exit status means; docs/exit-status.md shows this table.
#pragma once

#include "core/error.hpp"
#include "core/named.hpp"

namespace leadline {

/// All of them, ascending.
std::span<const Named<ExitStatus>> names_of(ExitStatus any);

}  // namespace leadline
