// SPDX-License-Identifier: Apache-2.0
// Two partners tell each other the addresses that their libraries gave them, and when they are ready.
#pragma once

#include <string>
#include <string_view>

#include "core/deadline.hpp"

namespace leadline::transport {

/// Partners: over a connected socket with nothing else on it. Returns the partner's; at most 64 KiB each way.
/// Throws Error(run_failed) when the deadline passes or the partner is gone.
std::string exchange_addresses(int socket, int partner, std::string_view own, Deadline deadline,
                               const ProgressFunction& progress = {});

/// Partners: a sign over the same socket, and whether the other's is there; neither blocks. Throw Error(run_failed)
/// when the partner is gone.
void send_ready(int socket, int partner);
bool has_sign(int socket, int partner);

/// "rank 3 did not answer in time"
[[noreturn]] void throw_late(int partner);

}  // namespace leadline::transport
