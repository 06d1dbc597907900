// SPDX-License-Identifier: Apache-2.0
// What of a run is the collective test's own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/collective/command.hpp"
#include "bench/collective/measure.hpp"
#include "bench/collective/output.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/slow_hosts.hpp"
#include "bench/collective/text.hpp"
#include "bench/plan.hpp"
#include "bench/validity_warnings.hpp"
#include "core/error.hpp"

namespace leadline::bench::collective {
namespace {

/// A batch has one reading of the clock at either end.
std::vector<Finding> findings_of(const Conditions& conditions, const CollectiveResult& result) {
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (const CellSummary& cell : result.cells) {
    fastest_ns = std::fmin(fastest_ns, cell.min * static_cast<double>(result.request.num_iterations));
  }
  return machine_validity_warnings(conditions,
                                   {fastest_ns, "fastest batch", "the times of short operations are inexact",
                                    "Ask for more --iterations, or a larger --message-size."});
}

/// Collective: the same on all ranks. Throws Error(bad_command_line).
Algorithm algorithm_of(const CollectiveRequest& request, transport::Transport& transport, int num_ranks) {
  if (request.algorithm == Algorithm::ring) return Algorithm::ring;
  std::vector<std::int32_t> all(static_cast<std::size_t>(num_ranks));
  std::iota(all.begin(), all.end(), 0);
  if (transport.collectives(all) != nullptr) return Algorithm::library;
  if (request.algorithm == Algorithm::library) {
    throw Error(ExitStatus::bad_command_line, "--algorithm library cannot be had",
                fmt::format("{} has no collective operations of its own here", transport.info().name),
                "Choose --algorithm ring, or --transport mpi or nccl");
  }
  check_memory_of_ring(request);
  return Algorithm::ring;
}

/// See StagedRun.
class CollectiveTest {
 public:
  static constexpr const char* name = "collective";
  using Request = CollectiveRequest;
  using Plan = collective::Plan;
  using Memory = MessageMemory;
  using Measured = collective::Measured;
  using Result = CollectiveResult;
  using File = CollectiveFile;
  using Progress = collective::Progress;

  Plan plan(const Request& request, const command::RunEnvironment& run_environment, cluster::Cluster& cluster) {
    return command::run_collectively(cluster, [&] {
      if (run_environment.conditions().simulated) {
        throw Error(ExitStatus::bad_command_line, "a simulated fabric has no collective operations",
                    "its messages do not wait for each other", "Choose another --transport");
      }
      std::vector<bool> is_absent(static_cast<std::size_t>(cluster.size()), false);
      for (const cluster::LostRank& lost : cluster.lost_ranks()) is_absent[static_cast<std::size_t>(lost.rank)] = true;
      Plan planned = collective::plan(request, run_environment.rank_layout(), is_absent);
      check_available({run_environment.rank_layout().max_ranks_per_host, planned.host_bytes}, available_memory_bytes(),
                      "Ask for a smaller --message-size, or fewer ranks on a host");
      algorithm_ = algorithm_of(request, run_environment.transport(), cluster.size());
      return planned;
    });
  }

  static std::unique_ptr<Memory> allocate(const Request& request, const Plan& plan, cluster::Cluster& /*cluster*/,
                                          const command::RunEnvironment& /*run_environment*/) {
    return std::make_unique<Memory>(request, plan);
  }

  void describe(const Plan& plan, Result& result) const {
    result.algorithm = algorithm_;
    result.num_groups = static_cast<std::int32_t>(plan.num_groups);
    result.group_ranks_min = static_cast<std::int32_t>(plan.least_ranks);
    result.group_ranks_max = static_cast<std::int32_t>(plan.most_ranks);
  }

  static std::unique_ptr<File> open_file(cluster::Cluster& cluster, const Result& so_far, const Plan& /*plan*/,
                                         const RankPlacement& placement) {
    return open_collective_file(cluster, so_far, result::setup_of(so_far.request, placement, {}));
  }

  void measure(cluster::Cluster& cluster, const command::RunEnvironment& run_environment, const Plan& plan,
               Memory& memory, File& file, Progress* progress, const Request& request, Measured& measured) const {
    Request decided = request;
    decided.wait = run_environment.provenance().wait;
    decided.algorithm = algorithm_;
    if (algorithm_ == Algorithm::library) decided.strict_ranks = true;  // its operations wait for all
    collective::measure({decided, plan, cluster, run_environment.transport(), memory, file, progress}, measured);
  }

  static bool take(const Measured& measured, const cluster::Cluster& /*cluster*/,
                   const command::RunEnvironment& run_environment, const Plan& plan, Result& result) {
    result.cells = summaries_of(plan, measured);
    result.verified_bytes = measured.verified_bytes;
    const auto host_names = run_environment.host_names();
    result.findings = slow_hosts(result.request, plan, measured, [&](std::int32_t rank) {
      return host_names.at(run_environment.host_of()[static_cast<std::size_t>(rank)]);
    });
    std::ranges::move(findings_of(run_environment.conditions(), result), std::back_inserter(result.findings));
    return std::ranges::any_of(result.cells, [](const CellSummary& cell) { return cell.num > 0; });
  }

 private:
  Algorithm algorithm_ = Algorithm::automatic;
};

}  // namespace

int run_collective(const CollectiveRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                   const transport::LoadedModule& module) {
  command::PresentationOf<CollectiveResult, Progress> presentation;
  presentation.progress = [request](const CollectiveResult& /*so_far*/) { return make_collective_progress(request); };
  presentation.summary = collective_summary;
  presentation.summarizes_failures = true;
  return command::run_in_frame(request, std::move(bootstrap), [&](cluster::Cluster& cluster, double joining_s) {
    return command::staged_run<CollectiveTest>(request, cluster, module, presentation, joining_s);
  });
}

}  // namespace leadline::bench::collective
