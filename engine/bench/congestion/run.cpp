// SPDX-License-Identifier: Apache-2.0
// What of a run is the congestion test's own.
#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/congestion/command.hpp"
#include "bench/congestion/measure.hpp"
#include "bench/congestion/output.hpp"
#include "bench/congestion/plan.hpp"
#include "bench/congestion/text.hpp"
#include "bench/plan.hpp"
#include "bench/validity_warnings.hpp"
#include "command/run_diagnosis.hpp"
#include "core/error.hpp"

namespace leadline::bench::congestion {
namespace {

std::vector<Finding> findings_of(const Conditions& conditions, const CongestionResult& result) {
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (const Impact& impact : result.impacts) fastest_ns = std::fmin(fastest_ns, impact.alone.median);
  return machine_validity_warnings(conditions, {fastest_ns, "fastest operation", "the times of single ones are inexact",
                                                "The factors of quantiles suffer less than the times."});
}

/// See StagedRun.
class CongestionTest {
 public:
  static constexpr const char* name = "congestion";
  using Request = CongestionRequest;
  using Plan = congestion::Plan;
  using Memory = MessageMemory;
  using Measured = congestion::Measured;
  using Result = CongestionResult;
  using File = CongestionFile;
  using Progress = congestion::Progress;

  Plan plan(const Request& request, const command::RunEnvironment& run_environment, cluster::Cluster& cluster) {
    layout_ = command::diagnosis_layout(cluster, run_environment, request.topology);
    return command::run_collectively(cluster, [&] {
      if (run_environment.conditions().simulated) {
        throw Error(ExitStatus::bad_command_line, "a simulated fabric has no congestion",
                    "its messages do not wait for each other", "Choose another --transport");
      }
      std::vector<bool> is_absent(static_cast<std::size_t>(cluster.size()), false);
      for (const cluster::LostRank& lost : cluster.lost_ranks()) is_absent[static_cast<std::size_t>(lost.rank)] = true;
      plan_ = congestion::plan(request, run_environment.rank_layout(), is_absent);
      const int per_host = run_environment.rank_layout().max_ranks_per_host;
      check_available({per_host, 2.0 * static_cast<double>(largest_bytes(request)) * per_host},
                      available_memory_bytes(), "Ask for a smaller --message-size or --load-size");
      return plan_;
    });
  }

  static std::unique_ptr<Memory> allocate(const Request& request, const Plan& /*plan*/, cluster::Cluster& /*cluster*/,
                                          const command::RunEnvironment& /*run_environment*/) {
    return std::make_unique<Memory>(request);
  }

  static void describe(const Plan& plan, Result& result) {
    result.victims = plan.roles.victims;
    result.num_load_ranks = plan.roles.load.size();
    result.victims_are_hosts = plan.roles.victims_are_hosts;
    result.cells = plan.cells;
  }

  std::unique_ptr<File> open_file(cluster::Cluster& cluster, const Result& so_far, const Plan& /*plan*/,
                                  const RankPlacement& placement) const {
    return open_congestion_file(cluster, so_far, result::setup_of(so_far.request, placement, layout_.network));
  }

  void measure(cluster::Cluster& cluster, const command::RunEnvironment& run_environment, const Plan& plan,
               Memory& memory, File& file, Progress* progress, const Request& request, Measured& measured) const {
    Request decided = request;
    decided.wait = run_environment.provenance().wait;
    congestion::measure({decided, plan, layout_.network, cluster, run_environment.transport(), memory, file, progress},
                        measured);
  }

  static bool take(const Measured& measured, const cluster::Cluster& /*cluster*/,
                   const command::RunEnvironment& run_environment, const Plan& plan, Result& result) {
    result.impacts = impacts_of(result.request, plan, measured);
    result.loads = loads_of(result.request, plan, measured);
    result.findings = findings_of(run_environment.conditions(), result);
    return !result.impacts.empty();
  }

  /// Rank 0 has the numbers.
  static std::string judge(cluster::Cluster& cluster, const Result& result, const std::string& /*path*/) {
    std::string own;
    const auto worst = worst_of(result);
    if (worst && result.request.fail_above > 0 && worst->factor.low > result.request.fail_above) {
      own = fmt::format("a load does more than --fail-above {:g} allows: {}", result.request.fail_above,
                        verdict_text(result));
      own.pop_back();  // the line end
    }
    return cluster.broadcast(own);
  }

 private:
  Plan plan_;
  diagnosis::Layout layout_;
};

}  // namespace

std::unique_ptr<command::BenchmarkRun> rank_run(const CongestionRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module,
                                                const CongestionPresentation& presentation, double joining_s) {
  return command::staged_run<CongestionTest>(request, cluster, module, presentation, joining_s);
}

int run_congestion(const CongestionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                   const transport::LoadedModule& module) {
  CongestionPresentation presentation;
  presentation.progress = [request](const CongestionResult& so_far) {
    return make_congestion_progress(request, 2 * so_far.cells.size() + request.loads.size());
  };
  presentation.summary = congestion_summary;
  presentation.summarizes_failures = true;
  return command::run_in_frame(request, std::move(bootstrap), [&](cluster::Cluster& cluster, double joining_s) {
    return rank_run(request, cluster, module, presentation, joining_s);
  });
}

}  // namespace leadline::bench::congestion
