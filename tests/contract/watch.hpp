// SPDX-License-Identifier: Apache-2.0
// Watches the calls of a rank into its transport: one that does not return ends the process, with the rule it breaks.
#pragma once

#include <chrono>
#include <memory>

#include "transport/transport.hpp"

namespace leadline::contract {

/// How long a call without a deadline of its own may take: 30 s, or LEADLINE_CONTRACT_SECONDS.
std::chrono::seconds call_limit();

/// How much later than its deadline a call may return: another process may have had the core.
inline constexpr std::chrono::seconds late_limit(2);

/// The exit status of a process that a call has not returned to.
inline constexpr int stuck_status = 3;

/// The same transport. Every call into it is watched, as the given rank's; connect() that returns too late fails the
/// test.
std::unique_ptr<transport::Transport> watched(std::unique_ptr<transport::Transport> transport, int rank);

/// Tells a process that watches itself to say in which call it is, and to end.
inline constexpr int say_and_end_signal = 14;  // SIGALRM

}  // namespace leadline::contract
