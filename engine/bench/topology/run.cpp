// SPDX-License-Identifier: Apache-2.0
// What of a run is the topology test's own.
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/message_memory.hpp"
#include "bench/plan.hpp"
#include "bench/topology/command.hpp"
#include "bench/topology/measure.hpp"
#include "bench/topology/observed.hpp"
#include "bench/topology/output.hpp"
#include "bench/topology/plan.hpp"
#include "bench/topology/text.hpp"
#include "bench/topology/validity_warnings.hpp"
#include "command/run_diagnosis.hpp"
#include "command/text_file.hpp"

namespace leadline::bench::topology {
namespace {

/// See StagedRun.
class TopologyTest {
 public:
  static constexpr const char* name = "topology";
  using Request = TopologyRequest;
  using Plan = topology::Plan;
  using Memory = bench::MessageSlots;
  using Measured = topology::Measured;
  using Result = TopologyResult;
  using File = topology::TopologyFile;
  using Progress = topology::Progress;

  /// Other hosts may not see the file with the edges: rank 0 reads it for all.
  Plan plan(const Request& request, const command::RunEnvironment& run_environment, cluster::Cluster& cluster) {
    layout_ = command::diagnosis_layout(cluster, run_environment, request.topology);
    const std::string own = command::run_collectively(
        cluster, [&] { return cluster.rank() == 0 ? command::read_edges_file(request.edges_file) : std::string(); });
    const std::string edges = cluster.broadcast(own);
    return command::run_collectively(cluster, [&] {
      Plan plan = topology::plan(request, run_environment.rank_layout(), edges);
      check_memory(plan, bench::available_memory_bytes());
      return plan;
    });
  }

  static std::unique_ptr<Memory> allocate(const Request& request, const Plan& plan, cluster::Cluster& cluster,
                                          const command::RunEnvironment& /*run_environment*/) {
    return std::make_unique<Memory>(request, num_slots(request, plan, cluster.rank()), cluster.rank());
  }

  static void describe(const Plan& plan, Result& result) { result.topologies = facts_of(plan); }

  std::unique_ptr<File> open_file(cluster::Cluster& cluster, const Result& so_far, const Plan& plan,
                                  const RankPlacement& placement) const {
    const Request& request = so_far.request;
    const bool is_load = request.duration_s > 0;
    return open_topology_file(cluster, so_far,
                              {result::setup_of(request, placement, layout_.network),
                               is_load ? std::vector<Cell>{} : plan.cells, plan.topologies});
  }

  void measure(cluster::Cluster& cluster, const command::RunEnvironment& run_environment, const Plan& plan,
               Memory& memory, File& file, Progress* progress, const Request& request, Measured& measured) const {
    const auto pairs_to_measure = [&](std::span<const diagnosis::Observation> own) {
      return command::pairs_to_measure(cluster, own, layout_, request.diagnosis, request.retest);
    };
    topology::measure({request, plan, cluster, run_environment.transport(), memory, file, progress, pairs_to_measure},
                      measured);
  }

  bool take(Measured measured, const cluster::Cluster& /*cluster*/, const command::RunEnvironment& run_environment,
            const Plan& /*plan*/, Result& result) {
    observed_ = std::move(measured.observed);
    const bool is_load = result.request.duration_s > 0;
    observed_.resize(is_load ? 0 : result.topologies.size() * result.request.message_sizes_bytes.size());
    result.cells = std::move(measured.cells);
    result.pairs_alone = std::move(measured.pairs_alone);
    result.load = std::move(measured.load);
    result.verified_bytes = measured.verified_bytes;
    result.findings = validity_warnings(run_environment.conditions(), result);
    if (!measured.stalls.empty()) add_stalls(std::move(measured.stalls), run_environment, result);
    return !result.cells.empty() || !result.load.empty();
  }

  void diagnose(cluster::Cluster& cluster, Result& result) const {
    result.diagnoses.clear();
    const Header header = header_of(result);
    for (std::size_t index = 0; index < observed_.size(); ++index) {
      const std::size_t topology = index / header.message_sizes_bytes.size();
      diagnosis::ObservedSlice slice = slice_of(header, topology, index % header.message_sizes_bytes.size());
      std::optional<DiagnosedSlice> told;
      if (std::string why = why_untested(header, topology); !why.empty()) {
        told = diagnosis::untested(slice, layout_, result.request.diagnosis, std::move(why));
      } else {
        add_pairs_alone(result.pairs_alone, topology, slice);
        told = command::diagnosed_at_root(cluster, observed_[index], layout_, result.request.diagnosis,
                                          [&] { return std::move(slice); });
      }
      if (told) result.diagnoses.push_back(std::move(*told));
    }
  }

 private:
  static void add_stalls(std::vector<LoadStall> stalls, const command::RunEnvironment& run_environment,
                         Result& result) {
    const auto host_names = run_environment.host_names();
    const auto who = [&](std::int32_t rank) {
      return fmt::format("rank {} on {}", rank,
                         host_names.at(run_environment.host_of()[static_cast<std::size_t>(rank)]));
    };
    double elapsed_s = 0;
    for (const LoadPoint& point : result.load) elapsed_s += point.elapsed_s;
    if (auto finding = stalls_finding(std::move(stalls), elapsed_s, result.topologies, who)) {
      result.findings.insert(result.findings.begin(), std::move(*finding));
    }
  }

  diagnosis::Layout layout_;
  std::vector<std::vector<diagnosis::Observation>> observed_;  ///< of each topology with each size
};

}  // namespace

TopologyPresentation own_presentation(const TopologyRequest& request) {
  TopologyPresentation presentation;
  presentation.progress = [request](const TopologyResult& so_far) {
    return make_topology_progress(request, so_far.topologies);
  };
  presentation.summary = topology_summary;
  presentation.summarizes_failures = true;
  return presentation;
}

int run_topology(const TopologyRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                 const transport::LoadedModule& module, const TopologyPresentation& presentation) {
  return command::run_in_frame(request, std::move(bootstrap), [&](cluster::Cluster& cluster, double joining_s) {
    return command::staged_run<TopologyTest>(request, cluster, module, presentation, joining_s);
  });
}

}  // namespace leadline::bench::topology
