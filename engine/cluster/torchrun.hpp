// SPDX-License-Identifier: Apache-2.0
// Ranks that were started as torchrun starts them: they know where rank 0 is, and it passes the texts of all to all.
#pragma once

#include <chrono>
#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// Whether RANK is set, or WORLD_SIZE with MASTER_ADDR: where only some variables are, that is reported as a mistake.
bool has_torchrun_variables();

/// From RANK, WORLD_SIZE, MASTER_ADDR (an address, or a name for the name service) and MASTER_PORT, at which torchrun's
/// own store may listen: rank 0 listens at MASTER_PORT + 1000, on the loopback where MASTER_ADDR is there, else on
/// all addresses of its host, until all ranks are connected to each other. They prove that they know LEADLINE_SECRET;
/// without it whoever knows the variables can join.
/// Collective: blocks until all ranks have come, for `timeout` at most, as does each all_gather then. Throws
/// Error(bad_command_line) naming the first variable that makes no sense; AgreedError on rank 0, and on those that it
/// has told, where ranks do not come, two have one number or the sizes differ; and Error(run_failed) on one that does
/// not reach rank 0.
std::unique_ptr<Bootstrap> torchrun_bootstrap(std::chrono::nanoseconds timeout);

}  // namespace leadline::cluster
