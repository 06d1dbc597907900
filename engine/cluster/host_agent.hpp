// SPDX-License-Identifier: Apache-2.0
// The program that --hosts starts on each host: it starts the ranks there, and passes on what they say.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// The first argument of the program where a launcher has started it on a host.
inline constexpr std::string_view host_agent_argument = "--rank-from-stdin";

/// Tells the launcher that it is there, in which version, and starts the ranks that the launcher wants. Returns in each
/// of them, with the arguments of its command; the process itself ends when all of them have, and ends them where
/// standard input is closed. To be called while the process has one thread.
std::vector<std::string> become_rank_on_host(const std::string& version);

/// Whether this process is such a rank.
bool is_rank_on_host();

/// The number of such a rank.
inline constexpr const char* host_rank_variable = "LEADLINE_HOSTS_RANK";

/// Of such a rank. No wait lasts longer than `timeout`. Throws Error(run_failed) where the launcher is gone.
std::unique_ptr<Bootstrap> hosts_bootstrap(std::chrono::nanoseconds timeout);

}  // namespace leadline::cluster
