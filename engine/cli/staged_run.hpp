// SPDX-License-Identifier: Apache-2.0
// One rank's way through a benchmark of four stages, once for all that have them. Ranks agree before they part ways:
// whatever one cannot do, none does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/run_frame.hpp"
#include "cli/surroundings.hpp"
#include "cli/together.hpp"
#include "core/clock.hpp"

namespace leadline::cli {

/// The texts of one front end. All members may be empty.
template <class Result, class Progress>
struct PresentationOf {
  /// Rank 0, once everything that is known before the first message is in `so_far`: all but what is measured. May throw
  /// Error, on which all ranks agree: a front end's own file cannot be made.
  std::function<std::unique_ptr<Progress>(const Result& so_far)> progress;

  /// Rank 0, at the end: the text for standard output.
  std::function<std::string(const Result& result, const std::string& path)> summary;
};

/// `Benchmark` says what is its own; an object of it lives as long as the run, for what one stage leaves to the next.
/// Types: Request, Plan, Memory (this rank's, for messages), Result, File, Progress. Functions, static or not, in the
/// order in which they are called; "together" = inside together(), so that they may throw:
///
///   Plan plan(request, surroundings, cluster)       collective, agrees by itself
///   unique_ptr<Memory> allocate(request, plan, rank)        together
///   void describe(plan, result)                     of the plan what the result tells
///   unique_ptr<File> open_file(cluster, so_far, plan, place)  together; before the first message
///   void measure(cluster, surroundings, plan, memory, file, progress, result)   collective; findings, too
template <class Benchmark>
class StagedRun final : public BenchmarkRun {
 public:
  using Request = typename Benchmark::Request;
  using Presentation = PresentationOf<typename Benchmark::Result, typename Benchmark::Progress>;

  /// `presentation` outlives the run.
  StagedRun(const Request& request, cluster::Cluster& cluster, const transport::LoadedModule& module,
            const Presentation& presentation, Benchmark benchmark)
      : cluster_(cluster), module_(module), presentation_(presentation), benchmark_(std::move(benchmark)) {
    result_.request = request;
  }

  void run() override {
    surroundings_.emplace(result_.request, cluster_, module_);
    plan_ = benchmark_.plan(result_.request, *surroundings_, cluster_);
    allocate();
    describe();
    open_file();
    measure();
    finish();
  }

  void mark_incomplete(const std::string& reason) override {
    if (file_) file_->mark_incomplete(reason);
  }

 private:
  /// Before the file: memory that an allocator cannot give (huge pages, locked memory) leaves nothing behind.
  void allocate() {
    memory_ = together(cluster_, [&] {
      surroundings_->check_memory_kind();
      return benchmark_.allocate(result_.request, plan_, cluster_.rank());
    });
  }

  void describe() {
    result_.provenance = surroundings_->provenance();
    benchmark_.describe(plan_, result_);
    result_.hosts = surroundings_->hosts_with_ranks(surroundings_->gather_host_names());
  }

  void open_file() {
    file_ = together(cluster_, [&] { return benchmark_.open_file(cluster_, result_, plan_, surroundings_->place()); });
    cluster_.set_on_failure([this](const std::string& message) { file_->mark_incomplete(message); });
  }

  void measure() {
    together(cluster_, [&] {
      if (cluster_.rank() == 0 && presentation_.progress) progress_ = presentation_.progress(result_);
      return true;
    });
    benchmark_.measure(cluster_, *surroundings_, plan_, *memory_, *file_, progress_.get(), result_);
  }

  void finish() {
    result_.connections = surroundings_->connections();
    result_.provenance.end_utc = utc_now_iso8601();
    result_.complete = true;
    together(cluster_, [&] { return file_->finish(result_), true; });
    say_at_end(cluster_, file_->path(),
               [&] { return presentation_.summary ? presentation_.summary(result_, file_->path()) : std::string(); });
  }

  cluster::Cluster& cluster_;
  const transport::LoadedModule& module_;
  const Presentation& presentation_;
  std::optional<Surroundings> surroundings_;
  Benchmark benchmark_;  // gone before the transport that it may stand on
  typename Benchmark::Plan plan_;
  typename Benchmark::Result result_;
  std::unique_ptr<typename Benchmark::Memory> memory_;
  std::unique_ptr<typename Benchmark::File> file_;
  std::unique_ptr<typename Benchmark::Progress> progress_;  // rank 0 only
};

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
template <class Benchmark>
int run_stages(const typename Benchmark::Request& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
               const transport::LoadedModule& module, const typename StagedRun<Benchmark>::Presentation& presentation,
               Benchmark benchmark = {}) {
  return run_in_frame(request, std::move(bootstrap), [&](cluster::Cluster& cluster, double) {
    return std::make_unique<StagedRun<Benchmark>>(request, cluster, module, presentation, std::move(benchmark));
  });
}

}  // namespace leadline::cli
