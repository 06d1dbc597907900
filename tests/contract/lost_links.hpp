// SPDX-License-Identifier: Apache-2.0
// What a transport that goes on without lost links promises.
#pragma once

#include <string>

namespace leadline::contract {

/// One of four ranks is gone: all that the others exchange arrives, barriers and all, and those that miss it say so at
/// the end. Then they go on with each other.
void expect_exchange_without_lost_link(const std::string& transport);

}  // namespace leadline::contract
