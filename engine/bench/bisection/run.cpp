// SPDX-License-Identifier: Apache-2.0
// What of a run is the bisection test's own.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bench/bisection/command.hpp"
#include "bench/bisection/exchange_loop.hpp"
#include "bench/bisection/measure.hpp"
#include "bench/bisection/observed.hpp"
#include "bench/bisection/output.hpp"
#include "bench/bisection/plan.hpp"
#include "bench/bisection/text.hpp"
#include "bench/bisection/validity_warnings.hpp"
#include "bench/plan.hpp"
#include "command/run_diagnosis.hpp"

namespace leadline::bench::bisection {
namespace {

/// See StagedRun.
class BisectionTest {
 public:
  static constexpr const char* name = "bisection";
  using Request = BisectionRequest;
  using Plan = bisection::Plan;
  using Memory = bisection::MessageBuffers;
  using Measured = bisection::Measured;
  using Result = BisectionResult;
  using File = bisection::BisectionFile;
  using Progress = bisection::Progress;

  Plan plan(const Request& request, const command::RunEnvironment& run_environment, cluster::Cluster& cluster) {
    layout_ = command::diagnosis_layout(cluster, run_environment, request.topology);
    return command::run_collectively(cluster, [&] {
      Plan plan = bisection::plan(request, run_environment.rank_layout());
      check_memory(plan, bench::available_memory_bytes());
      return plan;
    });
  }

  static std::unique_ptr<Memory> allocate(const Request& request, const Plan& /*plan*/, cluster::Cluster& cluster,
                                          const command::RunEnvironment& /*run_environment*/) {
    return std::make_unique<Memory>(request, cluster.rank());
  }

  static void describe(const Plan& plan, Result& result) {
    for (const schedule::PatternSpec& spec : plan.named) result.pattern_names.push_back(spec.name);
    result.num_participants = plan.ranks.size();
    result.within_hosts = plan.participants.within_hosts;
  }

  std::unique_ptr<File> open_file(cluster::Cluster& cluster, const Result& so_far, const Plan& plan,
                                  const RankPlacement& placement) const {
    const Request& request = so_far.request;
    const std::uint64_t max_baseline = plan.has_random ? request.rounds * request.num_baseline_pairs : 0;
    return open_bisection_file(
        cluster, so_far,
        {result::setup_of(request, placement, layout_.network), plan.max_patterns(request), max_baseline});
  }

  static void measure(cluster::Cluster& cluster, const command::RunEnvironment& run_environment, const Plan& plan,
                      Memory& memory, File& file, Progress* progress, const Request& request, Measured& measured) {
    bisection::measure({request, plan, cluster, run_environment.transport(), memory, file, progress}, measured);
  }

  bool take(Measured measured, const cluster::Cluster& /*cluster*/, const command::RunEnvironment& run_environment,
            const Plan& plan, Result& result) {
    result.patterns = std::move(measured.patterns);
    result.baseline = std::move(measured.baseline);
    result.sizes = std::move(measured.sizes);
    result.slow_connections = std::move(measured.slow_connections);
    observed_ = std::move(measured.observed);
    result.verified_bytes = measured.verified_bytes;
    result.findings = validity_warnings(run_environment.conditions(), result);
    if (run_environment.transport().has_streams_in_step()) {
      if (const auto finding = one_way_in_step(plan)) result.findings.push_back(*finding);
    }
    return !result.sizes.empty();
  }

  void diagnose(cluster::Cluster& cluster, Result& result) const {
    result.diagnoses.clear();
    for (std::size_t index = 0; index < observed_.size(); ++index) {
      auto told = command::diagnosed_at_root(cluster, observed_[index], layout_, result.request.diagnosis,
                                             [&] { return observed_of(result, index); });
      if (told) result.diagnoses.push_back(std::move(*told));
    }
  }

 private:
  diagnosis::Layout layout_;
  std::vector<std::vector<diagnosis::Observation>> observed_;  ///< of result.sizes
};

}  // namespace

BisectionPresentation own_presentation(const BisectionRequest& request) {
  BisectionPresentation presentation;
  presentation.progress = [request](const BisectionResult& so_far) {
    return make_bisection_progress(request, so_far.pattern_names.size());
  };
  presentation.summary = bisection_summary;
  presentation.summarizes_failures = true;
  return presentation;
}

std::unique_ptr<command::BenchmarkRun> rank_run(const BisectionRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module,
                                                const BisectionPresentation& presentation, double joining_s) {
  return command::staged_run<BisectionTest>(request, cluster, module, presentation, joining_s);
}

int run_bisection(const BisectionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                  const transport::LoadedModule& module, const BisectionPresentation& presentation) {
  return command::run_in_frame(request, std::move(bootstrap), [&](cluster::Cluster& cluster, double joining_s) {
    return rank_run(request, cluster, module, presentation, joining_s);
  });
}

}  // namespace leadline::bench::bisection
