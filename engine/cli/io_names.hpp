// SPDX-License-Identifier: Apache-2.0
// What a plan of the parallel file test must know of names: hosts, and the lines of --targets.
#pragma once

#include "bench/io/plan.hpp"
#include "cli/run_command.hpp"
#include "cli/run_environment.hpp"
#include "cluster/cluster.hpp"
#include "model/io_request.hpp"

namespace leadline::cli {

/// Collective, the same on all ranks: rank 0 reads --targets for all, since other hosts may not see it. Throws
/// AgreedError.
bench::io::Names gather_names(const IoRequest& request, const RunEnvironment& run_environment,
                              cluster::Cluster& cluster);

/// Local, for --dry-run: hosts are "host0", "host1" ..., or those of --io-hosts.
bench::io::Names dry_run_names(const IoRequest& request, const DryRunRanks& ranks);

}  // namespace leadline::cli
