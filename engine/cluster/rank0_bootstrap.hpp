// SPDX-License-Identifier: Apache-2.0
// Ranks that are told where rank 0 is, by the LEADLINE_* variables, torchrun or srun: it passes the texts of all to
// all.
#pragma once

#include <chrono>
#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// From LEADLINE_SIZE, LEADLINE_RANK, LEADLINE_ADDRESS (an address of rank 0's host, or a name for the name service),
/// LEADLINE_PORT and LEADLINE_SECRET (at least 16 characters). Rank 0 listens at this port, on the loopback where the
/// address is there, else on all addresses of its host, until all ranks are connected to each other.
/// Collective: blocks until all ranks have come, for `timeout` at most, as does each all_gather then. Throws
/// Error(bad_command_line) naming the first variable that makes no sense; AgreedError on rank 0, and on those that it
/// has told, where ranks do not come, two have one number or the sizes differ; and Error(run_failed) on one that does
/// not reach rank 0. `leaves_out_absent`: ranks that have not come after half of the time are absent, unless all are.
std::unique_ptr<Bootstrap> rank0_bootstrap(std::chrono::nanoseconds timeout, bool leaves_out_absent);

/// Whether RANK is set, or WORLD_SIZE with MASTER_ADDR: where only some variables are, that is reported as a mistake.
bool has_torchrun_variables();

/// The same from WORLD_SIZE, RANK, MASTER_ADDR and MASTER_PORT, at which torchrun's own store may listen: rank 0
/// listens at MASTER_PORT + 1000. Without LEADLINE_SECRET whoever knows the variables can join.
std::unique_ptr<Bootstrap> torchrun_bootstrap(std::chrono::nanoseconds timeout);

/// Whether srun started this process and others, whatever the PMI: SLURM_PROCID, SLURM_STEP_NUM_TASKS (not 1) and
/// SLURM_STEP_NODELIST are set.
bool has_slurm_step();

/// The same from these variables: task 0 of a step is on its first node. The port is one of 10000 to 29999, by the
/// numbers of job and step. Without LEADLINE_SECRET whoever knows the variables can join.
std::unique_ptr<Bootstrap> slurm_step_bootstrap(std::chrono::nanoseconds timeout);

}  // namespace leadline::cluster
