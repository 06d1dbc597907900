// SPDX-License-Identifier: Apache-2.0
// The stages of one rank's run, the same for all benchmarks. Where a stage fails on one rank, it fails on all.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "bench/lost_pairs.hpp"
#include "command/reporting.hpp"
#include "command/run_collectively.hpp"
#include "command/run_command.hpp"
#include "command/run_environment.hpp"
#include "command/stopwatch.hpp"
#include "core/clock.hpp"
#include "output/table.hpp"

namespace leadline::command {

/// The texts of one front end. All members may be empty.
template <class Result, class Progress>
struct PresentationOf {
  /// Rank 0, once everything that is known before the first message is in `so_far`: all but what is measured. May throw
  /// Error, on which all ranks agree: a front end's own file cannot be made.
  std::function<std::unique_ptr<Progress>(const Result& so_far)> progress;

  /// The root, at the end: the text for standard output.
  /// `path`: where the result lies; "-" = standard output.
  std::function<std::string(const Result& result, const std::string& path)> summary;

  /// Whether `summary` also tells what there is of a run that failed on the way.
  bool summarizes_failures = false;

  /// Every rank, before the first message: its line for standard error, line end included; rank 0 writes them all, in
  /// any order.
  std::function<std::string(int rank, const RankPlacement& placement)> rank_line;
};

/// What is timed around the measuring, for a front end that reports it.
enum class Stage : std::uint8_t {
  joining,  ///< until the ranks know each other
  placing,  ///< which rank is on which host
  opening_file,
  closing_file,
  everything,
};

/// What one benchmark does in each stage; an object of it lives as long as the run, for what one stage leaves to the
/// next. `name`: of its command, "link". Types: Request, Plan, Memory (this rank's, for messages), Measured, Result,
/// File, Progress. Functions, static or not, in the order in which they are called; "together" = inside
/// run_collectively(), so that they may throw:
///
///   Plan plan(request, run_environment, cluster)                       collective, agrees by itself
///   unique_ptr<Memory> allocate(request, plan, cluster, run_environment)  together
///   void describe(plan, result)                                        copies what the result says about the plan
///   unique_ptr<File> open_file(cluster, so_far, plan, placement)       together; before the first message
///   void measure(cluster, run_environment, plan, memory, file, progress, request, measured)   collective; an
///                                                                      AgreedError leaves in `measured` what there is
///   bool take(measured, cluster, run_environment, plan, result)        collective: into the result, which knows
///                                                                      whether it is complete; findings, too. Whether
///                                                                      there is anything, on the root
///
/// Where `Measured` has a member `losses` (bench/lost_pairs.hpp), findings and the status say what was lost. Those that
/// a benchmark may leave out:
///
///   void adapt(request, run_environment)                               before the plan: takes out of the request what
///                                                                      the hosts do not allow, alike on all ranks
///   optional<Result> interrupted(cluster, plan, why, partial_results)  in the watch thread of the rank that reports,
///                                                                      when a run fails in the middle: what there is
///   void keep_interrupted(file, result)                                likewise: keeps that in the file
///   void diagnose(cluster, result)                                     collective, before the file is finished: who is
///                                                                      slow, on the root; again where that changes
///   void stage_done(progress, stage, seconds)                          rank 0, where there is a progress
///   string judge(cluster, result, path)                                collective, at the end: why the status is
///   "below
///                                                                      its limit", the same on all ranks; empty = it
///                                                                      is not
///   static constexpr bool collects_hosts = true                        take() fills in `result.hosts`
template <class Benchmark>
class StagedRun final : public BenchmarkRun {
 public:
  using Request = typename Benchmark::Request;
  using Presentation = PresentationOf<typename Benchmark::Result, typename Benchmark::Progress>;

  /// `presentation` outlives the run.
  StagedRun(const Request& request, cluster::Cluster& cluster, const transport::LoadedModule& module,
            const Presentation& presentation, Benchmark benchmark, double joining_s)
      : cluster_(cluster),
        module_(module),
        presentation_(presentation),
        benchmark_(std::move(benchmark)),
        joining_s_(joining_s),
        steps_(std::string("leadline ") + Benchmark::name, request.verbose && cluster.rank() == 0) {
    result_.request = request;
  }

  void run() override {
    const Stopwatch everything;
    Stopwatch stage;
    run_environment_.emplace(result_.request, cluster_, module_);
    const double placing_s = stage.lap_s();
    tell_how_it_runs();
    if constexpr (requires { benchmark_.adapt(result_.request, *run_environment_); }) {
      benchmark_.adapt(result_.request, *run_environment_);
    }
    plan_ = benchmark_.plan(result_.request, *run_environment_, cluster_);
    allocate();
    describe();
    write_rank_lines();
    stage.lap_s();
    steps_.done("planned, memory set aside");
    open_file();
    const double opening_s = stage.lap_s();
    const std::string format = name_of(result_.request.format);
    const std::string where = file_->path() == "-" ? "standard output" : fmt::format("'{}'", file_->path());
    steps_.done(file_->path().empty() ? "no result file" : fmt::format("opened {} as {}", where, format));
    make_progress();
    stage_done(Stage::joining, joining_s_);
    stage_done(Stage::placing, placing_s);
    stage_done(Stage::opening_file, opening_s);
    const bool has_something = measure();
    steps_.done("measured");
    finish(has_something);
    if (failure_) throw *failure_;
    judge();
    stage_done(Stage::everything, joining_s_ + everything.elapsed_s());
  }

  ExitStatus status() const override { return why_below_.empty() ? ExitStatus::ok : ExitStatus::below_threshold; }

  void mark_incomplete(const std::string& reason) override {
    if (file_) file_->mark_incomplete(reason);
  }

 private:
  /// Of the end of a run that fails, for what it has to write.
  static constexpr auto file_patience = std::chrono::seconds(1);

  void tell_how_it_runs() {
    const Provenance& provenance = run_environment_->provenance();
    steps_.tell(fmt::format("{} on {}, started by {}, joined in {:.3f} s",
                            output::counted(static_cast<std::uint64_t>(provenance.num_ranks), "rank"),
                            output::counted(static_cast<std::uint64_t>(provenance.num_hosts), "host"),
                            provenance.launcher, joining_s_));
    const std::string& library = provenance.transport.library;
    steps_.done(fmt::format("transport {}{}", provenance.transport.name, library.empty() ? "" : ", " + library));
    steps_.tell(fmt::format("ranks wait by {}; clock {}", name_of(provenance.wait), provenance.clock.source));
    steps_.tell(run_environment_->binding_text());
    if (const std::string choice = run_environment_->network_choice_text(); !choice.empty()) steps_.tell(choice);
  }

  /// Before the file: memory that an allocator cannot give (huge pages, locked memory) leaves nothing behind.
  void allocate() {
    memory_ = run_collectively(cluster_, [&] {
      run_environment_->check_memory_kind();
      return benchmark_.allocate(result_.request, plan_, cluster_, *run_environment_);
    });
  }

  void describe() {
    result_.provenance = run_environment_->provenance();
    benchmark_.describe(plan_, result_);
    if constexpr (!requires { Benchmark::collects_hosts; }) {
      result_.hosts = run_environment_->hosts_with_ranks(run_environment_->host_names());
    }
  }

  void write_rank_lines() {
    if (!presentation_.rank_line) return;
    const std::string own = presentation_.rank_line(cluster_.rank(), run_environment_->placement());
    cluster_.gather(own, [](int, std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); });
  }

  void open_file() {
    file_ = run_collectively(
        cluster_, [&] { return benchmark_.open_file(cluster_, result_, plan_, run_environment_->placement()); });
    cluster_.set_on_failure([this](const std::string& message, const cluster::PartialResults& partial_results) {
      keep_what_there_is(message, partial_results);
    });
  }

  /// In the watch thread of the rank that reports why the run ends in the middle.
  void keep_what_there_is(const std::string& message, const cluster::PartialResults& partial_results) {
    if constexpr (requires { benchmark_.interrupted(cluster_, plan_, message, partial_results); }) {
      const auto result = benchmark_.interrupted(cluster_, plan_, message, partial_results);
      std::future<void> kept = std::async(std::launch::async, [&] {
        if (result) benchmark_.keep_interrupted(*file_, *result);
        file_->mark_incomplete(message);
      });
      // It may lie where nothing answers.
      const bool is_kept = kept.wait_for(file_patience) == std::future_status::ready;
      const bool is_told = result && cluster_.rank() == 0 && presentation_.summary && presentation_.summarizes_failures;
      if (is_told && file_->path() != "-") say_if_read(presentation_.summary(*result, is_kept ? file_->path() : ""));
      kept.get();
    } else {
      file_->mark_incomplete(message);
    }
  }

  void make_progress() {
    run_collectively(cluster_, [&] {
      if (cluster_.rank() == 0 && presentation_.progress) progress_ = presentation_.progress(result_);
      return true;
    });
  }

  /// Whether there is anything in the result, on the root.
  bool measure() {
    typename Benchmark::Measured measured;
    result_.complete = true;
    try {
      benchmark_.measure(cluster_, *run_environment_, plan_, *memory_, *file_, progress_.get(), result_.request,
                         measured);
    } catch (const AgreedError& error) {
      fail(error);
    }
    if constexpr (requires { measured.losses; }) losses_ = measured.losses;
    const bool has_something = benchmark_.take(std::move(measured), cluster_, *run_environment_, plan_, result_);
    num_own_findings_ = result_.findings.size();
    name_hosts_of_findings();
    return has_something;
  }

  /// Benchmarks know ranks.
  void name_hosts_of_findings() {
    const auto names = run_environment_->host_names();
    for (Finding& finding : result_.findings) {
      std::set<std::uint32_t> hosts;
      for (const std::int32_t rank : finding.ranks)
        hosts.insert(run_environment_->host_of()[static_cast<std::size_t>(rank)]);
      for (const std::uint32_t host : hosts) {
        const std::string& name = names.at(host);
        if (std::ranges::count(finding.host_names, name) == 0) finding.host_names.push_back(name);
      }
    }
  }

  void add_findings_of_losses() {
    const auto lost = cluster_.lost_ranks();
    losses_.ranks.assign(lost.begin(), lost.end());
    const auto names = run_environment_->host_names();
    result_.findings.resize(num_own_findings_);
    bench::add_findings(
        losses_, run_environment_->host_of(), [&](std::uint32_t host) { return names.at(host); }, result_.findings);
  }

  /// The first error is the cause.
  void fail(const AgreedError& error) {
    if (failure_) return;
    failure_ = error;
    result_.complete = false;
    result_.incomplete_reason = error.what();
  }

  /// A file that cannot be finished takes nothing else with it: the root has the summary.
  void finish(bool has_something) {
    result_.connections = run_environment_->connections();
    result_.provenance.end_utc = utc_now_iso8601();
    Stopwatch closing;
    std::string path = file_->path();
    try {
      cluster::repeat_for_new_root(cluster_, [&](int /*root*/) {
        add_findings_of_losses();
        if constexpr (requires { benchmark_.diagnose(cluster_, result_); }) benchmark_.diagnose(cluster_, result_);
        run_collectively(cluster_, [&] { return file_->finish(result_), true; });
      });
    } catch (const AgreedError& error) {
      fail(error);
      if (path != "-") path.clear();
    }
    stage_done(Stage::closing_file, closing.lap_s());
    if (!path.empty()) steps_.done(fmt::format("finished '{}'", path));
    const bool is_told = presentation_.summary && (!failure_ || (has_something && presentation_.summarizes_failures));
    say_at_end(cluster_, path, [&] { return is_told ? presentation_.summary(result_, path) : std::string(); });
  }

  void judge() {
    if constexpr (requires { benchmark_.judge(cluster_, result_, file_->path()); }) {
      why_below_ = benchmark_.judge(cluster_, result_, file_->path());
    }
    if (why_below_.empty()) why_below_ = bench::why_incomplete(losses_);
    if (cluster_.is_root() && !why_below_.empty()) complain(why_below_);
  }

  void stage_done(Stage stage, double seconds) {
    if constexpr (requires { benchmark_.stage_done(*progress_, stage, seconds); }) {
      if (progress_) benchmark_.stage_done(*progress_, stage, seconds);
    }
  }

  cluster::Cluster& cluster_;
  const transport::LoadedModule& module_;
  const Presentation& presentation_;
  std::optional<RunEnvironment> run_environment_;
  Benchmark benchmark_;  // gone before the transport that it may stand on
  double joining_s_;
  StepLog steps_;
  typename Benchmark::Plan plan_;
  typename Benchmark::Result result_;
  std::unique_ptr<typename Benchmark::Memory> memory_;
  std::unique_ptr<typename Benchmark::File> file_;
  std::unique_ptr<typename Benchmark::Progress> progress_;  // rank 0 only
  std::optional<AgreedError> failure_;                      // why the result is not complete
  bench::Losses losses_;
  std::size_t num_own_findings_ = 0;  // without those of losses
  std::string why_below_;             // the limit that was asked for; empty = it is not
};

/// Local: the run of a rank that has joined the others; `module` and `presentation` outlive it.
template <class Benchmark>
std::unique_ptr<BenchmarkRun> staged_run(const typename Benchmark::Request& request, cluster::Cluster& cluster,
                                         const transport::LoadedModule& module,
                                         const typename StagedRun<Benchmark>::Presentation& presentation,
                                         double joining_s, Benchmark benchmark = {}) {
  return std::make_unique<StagedRun<Benchmark>>(request, cluster, module, presentation, std::move(benchmark),
                                                joining_s);
}

}  // namespace leadline::command
