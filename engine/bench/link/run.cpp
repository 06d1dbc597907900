// SPDX-License-Identifier: Apache-2.0
// What of a run is the link test's own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/command.hpp"
#include "bench/link/compared_files.hpp"
#include "bench/link/file.hpp"
#include "bench/link/measure.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/profiled_file.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/result.hpp"
#include "bench/link/text.hpp"
#include "bench/link/validity_warnings.hpp"
#include "bench/plan.hpp"
#include "cluster/cluster.hpp"
#include "command/reporting.hpp"
#include "command/run_collectively.hpp"
#include "command/run_diagnosis.hpp"
#include "command/run_environment.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/terminal.hpp"
#include "core/units.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/profile.hpp"
#include "model/diagnosis.hpp"
#include "output/diagnosis_text.hpp"
#include "output/table.hpp"
#include "result/diagnosis_json.hpp"
#include "schedule/schedule.hpp"

namespace leadline::bench::link {
namespace {

using cluster::Cluster;

/// By partner: the number of the round in which `rank` meets it; 0 = they do not, or it is known only when the rounds
/// have been run.
std::vector<std::int32_t> rounds_of_partners(const LinkRequest& request, const bench::link::Plan& plan, int rank,
                                             int repeat) {
  if (is_sample(request)) return std::vector<std::int32_t>(static_cast<std::size_t>(plan.rank_layout.num_ranks));
  return bench::link::MeetingRounds(request, plan.rank_layout, repeat).of(rank);
}

/// Refuses --check-buffers where the transport cannot do it.
void refuse_check_of_buffers(const LinkRequest& request, const transport::Entry& transport) {
  const transport::Limit* const limit = transport::limit_of(transport, "--check-buffers");
  if (!request.check_buffers || limit == nullptr) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("--check-buffers cannot be had with --transport {}", transport.name), limit->verdict,
              "Use --verify");
}

/// Collective: rank 0 alone reads the file. Throws AgreedError where it is none, or where nothing of the run can be
/// judged by it.
diagnosis::SiteProfile site_profile(Cluster& cluster, const command::RunEnvironment& run_environment,
                                    const LinkRequest& request, const diagnosis::Layout& layout) {
  const std::string text = cluster.broadcast(command::run_collectively(
      cluster, [&] { return cluster.rank() == 0 ? text_of_profile(request.profile) : std::string(); }));
  return command::run_collectively(cluster, [&] {
    diagnosis::SiteProfile site{request.profile, result::profile_of_text(request.profile, text),
                                diagnosis::conditions_of(run_environment.provenance().transport.name,
                                                         name_of(request.direction), request.serial, layout)};
    if (const std::string why = diagnosis::why_unfit(site, request.message_sizes_bytes); !why.empty()) {
      throw Error(ExitStatus::bad_command_line,
                  fmt::format("nothing of this run can be judged by the site profile '{}'", request.profile), why,
                  "Measure as its runs did, or leave out --profile");
    }
    return site;
  });
}

/// Rank 0: prints what changed since the baselines; why the run fails, empty where it does not.
std::string compared_with_baselines(const LinkRequest& request, const std::string& path) {
  command::StepLog steps("leadline link", request.verbose);
  const auto comparisons = compare_files({request.baselines, path, request.topology, {}, request.diagnosis}, steps);
  command::say("\n" + output::comparisons_text(comparisons));
  const bool is_any_worse = std::ranges::any_of(comparisons, is_worse);
  if (!is_any_worse || !(request.strict || request.health_check)) return "";
  return fmt::format("the result is worse than {}", baselines_text(request.baselines));
}

/// The first fault, or class beside the site profile, that costs more than the share leaves.
std::string below_share(const LinkResult& result, double share) {
  for (const SliceSummary& slice : result.slices) {
    if (!slice.diagnosis) continue;
    for (const Fault& fault : slice.diagnosis->faults) {
      if (!counts(fault) || fault.ratio * share <= 1) continue;
      return fmt::format("{} reaches {:.3g} % of the usual speed with {}", fault.name, 100 / fault.ratio,
                         format_bytes(slice.slice.message_size_bytes));
    }
    for (const ComparedClass& one : slice.diagnosis->profile) {
      if (one.change != Change::slower || one.ratio * share <= 1) continue;
      return fmt::format("{} reach {:.3g} % of the speed of the site profile with {}", output::all_pairs_of(one),
                         100 / one.ratio, format_bytes(slice.slice.message_size_bytes));
    }
  }
  return "";
}

/// The slowest pair of any size.
template <typename IsBelow>
std::string slowest_below(const LinkResult& result, const IsBelow& is_below) {
  for (const SliceSummary& slice : result.slices) {
    const double time_ns = slice.all.time_ns_max;
    const std::uint64_t size = slice.slice.message_size_bytes;
    if (slice.all.num_pairs == 0) continue;
    const double bandwidth = bandwidth_bytes_per_s(time_ns, size, result.request.direction);
    if (!is_below(time_ns, bandwidth)) continue;
    return fmt::format("the slowest pair takes {} ({}) with {}", format_time_ns(time_ns), format_bandwidth(bandwidth),
                       format_bytes(size));
  }
  return "";
}

/// Why the result is below its limit, in a sentence without its end; empty where it is not.
std::string below_limit(const LinkResult& result) {
  const FailBelow& limit = result.request.fail_below;
  if (result.request.strict) {
    if (std::string why = below_share(result, 1); !why.empty()) return why;
  }
  switch (limit.kind) {
    case FailBelow::Kind::nothing:
      return "";
    case FailBelow::Kind::share:
      return below_share(result, limit.value);
    case FailBelow::Kind::bandwidth_bytes_per_s:
      return slowest_below(result, [&](double, double bandwidth) { return bandwidth < limit.value; });
    case FailBelow::Kind::time_ns:
      return slowest_below(result, [&](double time_ns, double) { return time_ns > limit.value; });
  }
  return "";
}

/// See StagedRun.
class LinkTest {
 public:
  static constexpr const char* name = "link";
  using Request = LinkRequest;
  using Plan = bench::link::Plan;
  using Memory = bench::link::PairMeter;
  using Measured = bench::link::Measured;
  using Result = LinkResult;
  using File = LinkFile;
  using Progress = bench::link::Progress;

  /// Only when the tables that grow with the ranks are gone.
  static constexpr bool collects_hosts = true;

  /// Both outlive the run. The time of --budget begins now.
  LinkTest(const transport::Entry& transport, const LinkPresentation& presentation)
      : transport_(&transport), presentation_(&presentation), begin_ns_(now_ns()) {}

  void adapt(Request& request, const command::RunEnvironment& run_environment) const {
    const bench::RankLayout rank_layout = run_environment.rank_layout();
    if (presentation_->adapt) presentation_->adapt(request, rank_layout);
    request.statistics = bench::link::statistics_of(request, static_cast<std::uint64_t>(rank_layout.num_ranks));
  }

  /// After the transport has said which hosts it simulates, if it does.
  Plan plan(const Request& request, const command::RunEnvironment& run_environment, Cluster& cluster) {
    if (!request.no_diagnosis) {
      layout_ = command::diagnosis_layout(cluster, run_environment, request.topology, request.routes);
    }
    if (!request.profile.empty()) site_profile_ = site_profile(cluster, run_environment, request, *layout_);
    return command::run_collectively(cluster, [&] {
      check_format_holds(request.format, request);
      for (const std::string& path : request.baselines) {
        if (cluster.rank() == 0) expect_link_test(path, "compare with");
      }
      bench::RankLayout rank_layout = run_environment.rank_layout();
      if (layout_) rank_layout.network = &layout_->network;
      Plan plan = bench::link::plan(request, rank_layout);
      bench::link::check_memory(plan, bench::available_memory_bytes());
      return plan;
    });
  }

  std::unique_ptr<Memory> allocate(const Request& request, const Plan& plan, Cluster& cluster,
                                   const command::RunEnvironment& run_environment) const {
    refuse_check_of_buffers(request, *transport_);
    return std::make_unique<Memory>(request, plan, cluster, run_environment.transport());
  }

  static void describe(const Plan& plan, Result& result) { result.num_rounds = plan.num_rounds; }

  /// `so_far` and `plan` outlive the file.
  std::unique_ptr<File> open_file(Cluster& cluster, const Result& so_far, const Plan& plan,
                                  const RankPlacement& placement) const {
    const Request& request = so_far.request;
    LinkFileSetup setup;
    static_cast<result::RunFileSetup&>(setup) =
        result::setup_of(request, placement, layout_ ? layout_->network : network::Network{});
    setup.num_repeats = plan.num_repeats;
    setup.permutation = [&cluster, &request](int index) {
      return schedule::permutation(cluster.size(), request.shuffle_ranks_seed, index);
    };
    setup.permutation_of_repeat = [&request](int repeat) { return bench::link::permutation_of(request, repeat); };
    setup.rounds = [&](int rank, int repeat) { return rounds_of_partners(request, plan, rank, repeat); };
    if (auto sample = bench::link::stored_sample(request, plan.rank_layout)) {
      const auto hosts = plan.rank_layout.host_of;
      setup.stored_rounds = StoredRounds{*std::move(sample), {hosts.begin(), hosts.end()}};
    }
    if (presentation_->set_up_file) presentation_->set_up_file(setup);
    return open_link_file(cluster, so_far, std::move(setup));
  }

  void measure(Cluster& cluster, const command::RunEnvironment& run_environment, const Plan& plan, Memory& meter,
               File& file, Progress* progress, const Request& request, Measured& measured) const {
    command::run_collectively(cluster, [&] { return file.reserve_repeats(plan.num_repeats), true; });
    if (file.any_rank_can_finish()) cluster.go_on_without_root();
    bench::link::measure(
        {request, plan, cluster, meter, file, run_environment.host_of(), progress, layout_ ? &*layout_ : nullptr,
         site_profile_ ? &*site_profile_ : nullptr, run_environment.line_rate(), begin_ns_},
        measured);
  }

  bool take(Measured measured, Cluster&, const command::RunEnvironment& run_environment, const Plan& plan,
            Result& result) {
    if (is_sample(result.request)) result.num_rounds = measured.num_rounds;
    result.slices = std::move(measured.slices);
    result.verified_bytes = measured.verified_bytes;
    result.findings =
        bench::link::validity_warnings(run_environment.conditions(), plan.num_participants, result.slices);
    collect_hosts(run_environment, result);
    return !result.slices.empty();
  }

  static void stage_done(Progress& progress, command::Stage stage, double seconds) {
    switch (stage) {
      case command::Stage::joining:
        return progress.phase_done(Phase::joining, seconds);
      case command::Stage::placing:
        return progress.phase_done(Phase::placing, seconds);
      case command::Stage::opening_file:
        return progress.phase_done(Phase::opening_file, seconds);
      case command::Stage::closing_file:
        return progress.phase_done(Phase::closing_file, seconds);
      case command::Stage::everything:
        return progress.phase_done(Phase::everything, seconds);
    }
  }

  std::string judge(Cluster& cluster, const Result& result, const std::string& path) const {
    if (!result.request.baselines.empty()) {
      std::string own;
      command::run_on_root(cluster, [&] { own = compared_with_baselines(result.request, path); });
      std::string why = cluster.broadcast(own);
      if (!why.empty()) return why;
    }
    return below_limit(result);
  }

 private:
  static void collect_hosts(const command::RunEnvironment& run_environment, Result& result) {
    const auto names = run_environment.host_names();
    result.hosts = run_environment.hosts_with_ranks(names);
    const auto host_of = run_environment.host_of();
    for (const SliceSummary& summary : result.slices) {
      for (const SlowPair& pair : summary.slowest) {
        result.slow_pair_hosts.push_back(names.at(host_of[pair.from]));
        result.slow_pair_hosts.push_back(names.at(host_of[pair.to]));
      }
    }
  }

  const transport::Entry* transport_;
  const LinkPresentation* presentation_;
  std::uint64_t begin_ns_;
  std::optional<diagnosis::Layout> layout_;  // for the diagnosis
  std::optional<diagnosis::SiteProfile> site_profile_;
};

}  // namespace

LinkPresentation own_presentation(const LinkRequest& request) {
  LinkPresentation presentation;
  presentation.progress = [request](const LinkResult& so_far) { return make_progress(request, so_far.num_rounds); };
  if (request.health_check) {
    presentation.summary = health_line;
  } else {
    presentation.summary = [](const LinkResult& result, const std::string& path) {
      return link_summary(result, path, text_width());
    };
  }
  presentation.summarizes_failures = !request.health_check;
  return presentation;
}

std::unique_ptr<command::BenchmarkRun> rank_run(const LinkRequest& request, Cluster& cluster,
                                                const transport::LoadedModule& module,
                                                const LinkPresentation& presentation, double joining_s) {
  return command::staged_run(request, cluster, module, presentation, joining_s, LinkTest(module.entry(), presentation));
}

int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module, const LinkPresentation& presentation) {
  return command::run_in_frame(request, std::move(bootstrap), [&](Cluster& cluster, double joining_s) {
    return rank_run(request, cluster, module, presentation, joining_s);
  });
}

}  // namespace leadline::bench::link
