// SPDX-License-Identifier: Apache-2.0
// What the measuring commands have in common before their ranks are connected: what starts them, how they find each
// other, and the transport.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/plan.hpp"
#include "cluster/bootstrap.hpp"
#include "cluster/cluster.hpp"
#include "core/error.hpp"
#include "model/request.hpp"
#include "transport/module.hpp"

namespace leadline::command {

/// Collective: the transport's own bootstrap where its library has one (MPI); with any other transport the explicit
/// variables, or the launcher's protocol: PMI-1, or PMIx where that module can be loaded, else its MPI library.
/// Throws Error(something_missing) with all reasons where none can be used, Error(bad_command_line) where explicit
/// variables make no sense. `launcher` is not `none`; no wait lasts longer than `timeout`. `leaves_out_absent`: the run
/// goes on without ranks that were started one by one and do not come.
std::unique_ptr<cluster::Bootstrap> launcher_bootstrap(const transport::LoadedModule& module,
                                                       cluster::Launcher launcher, std::chrono::nanoseconds timeout,
                                                       bool leaves_out_absent = false);

/// Local, where no launcher was recognised: throws Error(something_missing) where another one has started several
/// processes, which know nothing of each other. Each would measure its own host and find nothing wrong.
void refuse_unconnected_ranks();

/// Version and commit, as --version prints them.
std::string full_version();

/// One rank's run of a benchmark.
class BenchmarkRun {
 public:
  BenchmarkRun() = default;
  BenchmarkRun(const BenchmarkRun&) = delete;
  BenchmarkRun& operator=(const BenchmarkRun&) = delete;
  virtual ~BenchmarkRun() = default;

  /// Collective. Throws AgreedError, or an Error of this rank alone.
  virtual void run() = 0;

  /// Local, after run(): the exit status of a run that finished; the same on all ranks.
  virtual ExitStatus status() const { return ExitStatus::ok; }

  /// Local, for the one rank that reports after an agreed error; there may be no file yet.
  virtual void mark_incomplete(const std::string& reason) = 0;
};

/// `joining_s`: how long it took until all ranks were connected.
using MakeRun = std::function<std::unique_ptr<BenchmarkRun>(cluster::Cluster& cluster, double joining_s)>;

/// Collective: run.run(), where an error of this rank alone ends all ranks. Throws AgreedError.
void run_agreed(cluster::Cluster& cluster, BenchmarkRun& run);

/// Collective. Returns the exit status; reports errors itself, once, from one rank.
int run_in_frame(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap, const MakeRun& make_run);

/// Collective, at the end: rank 0 prints `text()`, unless the result itself went to standard output ("-"). Throws
/// AgreedError.
void say_at_end(cluster::Cluster& cluster, const std::string& result_path, const std::function<std::string()>& text);

/// One rank of a run, from joining the others to its exit status.
using RunRank =
    std::function<int(std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module)>;

/// The transport of a run: as asked, else what fits the launcher.
std::string transport_for(const RunRequest& request, cluster::Launcher launcher);

/// Completes transport and output in `request` (the name of the file has the benchmark's name in it), then runs the
/// ranks: those that a launcher has started, else local processes of its own. Returns the exit status. Throws
/// Error(bad_command_line, something_missing).
int run_ranks(RunRequest& request, const std::string& benchmark, const RunRank& run_rank);

/// The ranks that --dry-run plans for.
struct DryRunRanks {
  std::vector<std::uint32_t> host_of;  ///< host index by rank
  int max_ranks_per_host = 1;

  bench::RankLayout rank_layout() const { return {static_cast<int>(host_of.size()), max_ranks_per_host, host_of}; }
};

DryRunRanks dry_run_ranks(const RunRequest& request, const std::string& benchmark);

/// --dry-run: prints `plan_text()`, once where a launcher has started several processes. Returns the exit status.
int say_plan(const std::function<std::string()>& plan_text);

}  // namespace leadline::command
