// SPDX-License-Identifier: Apache-2.0
// One rank's way through a link test. Ranks agree before they part ways: whatever one of them cannot do, none does.
#include "cli/link_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/free_memory.hpp"
#include "bench/link/measure.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/unfit.hpp"
#include "cli/compared_files.hpp"
#include "cli/fail_below.hpp"
#include "cli/rank_layout.hpp"
#include "cli/run_frame.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stopwatch.hpp"
#include "cli/surroundings.hpp"
#include "cli/together.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "model/comparison.hpp"
#include "model/link_result.hpp"
#include "output/comparison_text.hpp"
#include "output/health_line.hpp"
#include "output/link_progress.hpp"
#include "output/link_summary.hpp"
#include "result/result_file.hpp"
#include "schedule/schedule.hpp"

namespace leadline::cli {
namespace {

using bench::link::Plan;
using cluster::Cluster;

class LinkRun final : public BenchmarkRun {
 public:
  LinkRun(LinkRequest request, Cluster& cluster, const transport::LoadedModule& module,
          const Presentation& presentation, double joining_s)
      : request_(std::move(request)),
        cluster_(cluster),
        module_(module),
        presentation_(presentation),
        joining_s_(joining_s),
        begin_ns_(now_ns() - static_cast<std::uint64_t>(1e9 * joining_s)) {}

  void run() override;
  ExitStatus status() const override { return why_below_.empty() ? ExitStatus::ok : ExitStatus::below_threshold; }
  void mark_incomplete(const std::string& reason) override {
    if (file_) file_->mark_incomplete(reason);
  }

 private:
  void make_plan();
  void check_limits();
  void allocate();
  void name_ranks();
  void describe();
  void open_file();
  result::ResultFileSetup file_setup();
  std::vector<std::int32_t> own_rounds(int repeat) const;
  void measure();
  void collect_hosts();
  void judge();
  std::string compared_with_baseline() const;
  void phase_done(bench::link::Phase phase, double seconds) {
    if (progress_ != nullptr) progress_->phase_done(phase, seconds);
  }

  LinkRequest request_;
  Cluster& cluster_;
  const transport::LoadedModule& module_;
  const Presentation& presentation_;
  double joining_s_;
  std::uint64_t begin_ns_;
  std::optional<Surroundings> surroundings_;
  std::optional<diagnosis::Layout> layout_;  // for the diagnosis
  Plan plan_;
  LinkResult result_;
  std::unique_ptr<bench::link::PairMeter> meter_;
  std::unique_ptr<result::ResultFile> file_;
  std::unique_ptr<bench::link::Progress> progress_;  // rank 0 only
  std::string why_below_;                            // the limit that was asked for; empty = it is not
};

/// After the transport has said which hosts there are to believe in: the plan, and whether it fits into memory.
void LinkRun::make_plan() {
  plan_ = together(cluster_, [&] {
    bench::Presence presence = surroundings_->presence();
    if (layout_) presence.network = &layout_->network;
    Plan plan = bench::link::plan(request_, presence);
    bench::link::check_memory(plan, bench::available_memory_bytes());
    return plan;
  });
}

/// What only a GPU's memory or a real message can do.
void LinkRun::check_limits() {
  surroundings_->check_memory_kind();
  const transport::Limit* const limit = transport::limit_of(module_.entry(), "--check-buffers");
  if (request_.check_buffers && limit != nullptr) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--check-buffers cannot be had with --transport {}", module_.entry().name), limit->verdict,
                "Use --verify");
  }
}

/// Before the file: memory that an allocator cannot give (huge pages, locked memory) leaves nothing behind.
void LinkRun::allocate() {
  meter_ = together(cluster_, [&] {
    check_limits();
    return std::make_unique<bench::link::PairMeter>(request_, plan_, cluster_, surroundings_->transport());
  });
}

/// A line of each rank about itself, where the front end has one.
void LinkRun::name_ranks() {
  if (!presentation_.rank_line) return;
  const std::string own = presentation_.rank_line(cluster_.rank(), surroundings_->place());
  cluster_.gather(own, [](int, std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); });
}

void LinkRun::describe() {
  result_.provenance = surroundings_->provenance();
  result_.request = request_;
  result_.num_rounds = plan_.num_rounds;
}

/// By partner: the number of the round in which the two meet, of the plain schedule with many pairs at once; 0 = they
/// do not. So a serial test has the numbers of the rounds that its pairs would share.
std::vector<std::int32_t> LinkRun::own_rounds(int repeat) const {
  std::vector<std::int32_t> rounds(static_cast<std::size_t>(cluster_.size()));
  if (is_sample(request_)) return rounds;  // known when they have been run
  schedule::Spec spec = bench::link::schedule_spec(request_, plan_.presence, repeat);
  const auto for_each_meeting = [&](const schedule::Schedule& schedule, const auto& note) {
    for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
      const auto meeting = schedule.meeting(cluster_.rank(), round);
      if (meeting) note(rounds[static_cast<std::size_t>(meeting->partner)], static_cast<std::int32_t>(round + 1));
    }
  };
  for_each_meeting(schedule::Schedule(spec), [](std::int32_t& partner, std::int32_t) { partner = 1; });
  spec.serial = spec.shuffle_rounds = false;
  spec.rounds.clear();
  for_each_meeting(schedule::Schedule(std::move(spec)), [](std::int32_t& partner, std::int32_t number) {
    if (partner != 0) partner = number;
  });
  return rounds;
}

result::ResultFileSetup LinkRun::file_setup() {
  result::ResultFileSetup setup;
  setup.path = request_.output;
  setup.format = request_.format;
  setup.existing = request_.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse;
  setup.row_path = request_.row_path;
  setup.place = surroundings_->place();
  setup.permutation = [this](int index) {
    return schedule::permutation(cluster_.size(), request_.shuffle_ranks_seed, index);
  };
  setup.permutation_of_repeat = [this](int repeat) { return bench::link::permutation_of(request_, repeat); };
  setup.rounds = [this](int repeat) { return own_rounds(repeat); };
  if (presentation_.set_up_file) presentation_.set_up_file(setup);
  return setup;
}

void LinkRun::open_file() {
  file_ = together(cluster_, [&] { return result::open_result_file(cluster_, result_, file_setup()); });
  cluster_.set_on_failure([this](const std::string& message) { file_->mark_incomplete(message); });
  together(cluster_, [&] { return file_->reserve_repeats(plan_.num_repeats), true; });
}

void LinkRun::measure() {
  bench::link::Measured measured =
      bench::link::measure({request_, plan_, cluster_, *meter_, *file_, surroundings_->host_of(), progress_.get(),
                            layout_ ? &*layout_ : nullptr, begin_ns_});
  result_.num_rounds = is_sample(request_) ? measured.num_rounds : plan_.num_rounds;
  result_.slices = std::move(measured.slices);
  result_.verified_bytes = measured.verified_bytes;
  result_.findings = bench::link::unfit(surroundings_->conditions(), plan_.num_players, result_.slices);
}

/// Names of the hosts, on rank 0: only now, when the tables that grow with the ranks are gone.
void LinkRun::collect_hosts() {
  const auto names = surroundings_->gather_host_names();
  if (cluster_.rank() != 0) return;
  result_.hosts = surroundings_->hosts_with_ranks(names);
  const auto host_of = surroundings_->host_of();
  for (const SliceSummary& summary : result_.slices) {
    for (const SlowPair& pair : summary.slowest) {
      result_.slow_pair_hosts.push_back(names.at(host_of[pair.from]));
      result_.slow_pair_hosts.push_back(names.at(host_of[pair.to]));
    }
  }
}

/// Rank 0: prints what changed since the baseline; why the run fails, empty where it does not.
std::string LinkRun::compared_with_baseline() const {
  const auto comparisons = compare_files({request_.baseline, file_->path(), request_.topology, {}, request_.diagnosis});
  say("\n" + output::comparisons_text(comparisons));
  const bool is_any_worse = std::ranges::any_of(comparisons, is_worse);
  if (!is_any_worse || !(request_.strict || request_.health_check)) return "";
  return fmt::format("the result is worse than the baseline '{}'", request_.baseline);
}

/// Whether the run ends with the status for "below its limit"; rank 0 says why.
void LinkRun::judge() {
  if (!request_.baseline.empty()) {
    const std::string own = together(cluster_, [&] { return cluster_.rank() == 0 ? compared_with_baseline() : ""; });
    why_below_ = cluster_.broadcast(own);
  }
  if (why_below_.empty()) why_below_ = below_limit(result_);
  if (cluster_.rank() == 0 && !why_below_.empty()) complain(why_below_);
}

void LinkRun::run() {
  using bench::link::Phase;
  const Stopwatch everything;
  Stopwatch phase;
  surroundings_.emplace(request_, cluster_, module_);
  const double placing_s = phase.lap_s();
  if (!request_.no_diagnosis) layout_ = rank_layout(cluster_, *surroundings_, request_.topology);
  make_plan();
  allocate();
  describe();
  name_ranks();
  phase.lap_s();
  open_file();
  const double opening_s = phase.lap_s();
  if (cluster_.rank() == 0 && presentation_.progress) progress_ = presentation_.progress(result_);
  phase_done(Phase::joining, joining_s_);
  phase_done(Phase::placing, placing_s);
  phase_done(Phase::opening_file, opening_s);
  measure();
  collect_hosts();
  result_.connections = surroundings_->connections();
  result_.provenance.end_utc = utc_now_iso8601();
  result_.complete = true;
  phase.lap_s();
  together(cluster_, [&] { return file_->finish(result_), true; });
  phase_done(Phase::closing_file, phase.lap_s());
  say_at_end(cluster_, file_->path(),
             [&] { return presentation_.summary ? presentation_.summary(result_, file_->path()) : std::string(); });
  judge();
  phase_done(Phase::everything, joining_s_ + everything.elapsed_s());
}

}  // namespace

Presentation own_presentation(const LinkRequest& request) {
  Presentation presentation;
  presentation.progress = [request](const LinkResult&) { return output::make_progress(request); };
  presentation.summary = request.health_check ? output::health_line : output::link_summary;
  return presentation;
}

int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module, const Presentation& presentation) {
  return run_in_frame(request, std::move(bootstrap), [&](Cluster& cluster, double joining_s) {
    return std::make_unique<LinkRun>(request, cluster, module, presentation, joining_s);
  });
}

}  // namespace leadline::cli
