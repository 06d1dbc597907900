// SPDX-License-Identifier: Apache-2.0
// One rank's way through a bisection test. Ranks agree before they part ways: whatever one cannot do, none does.
#include "cli/bisection_run.hpp"

#include <optional>
#include <utility>

#include "bench/bisection/measure.hpp"
#include "bench/bisection/message_buffers.hpp"
#include "bench/bisection/plan.hpp"
#include "bench/bisection/unfit.hpp"
#include "bench/free_memory.hpp"
#include "cli/run_frame.hpp"
#include "cli/surroundings.hpp"
#include "cli/together.hpp"
#include "core/clock.hpp"
#include "output/bisection_text.hpp"
#include "result/bisection_file.hpp"

namespace leadline::cli {
namespace {

using bench::bisection::MessageBuffers;
using bench::bisection::Plan;
using cluster::Cluster;

class BisectionRun final : public BenchmarkRun {
 public:
  BisectionRun(BisectionRequest request, Cluster& cluster, const transport::LoadedModule& module,
               const BisectionPresentation& presentation)
      : request_(std::move(request)), cluster_(cluster), module_(module), presentation_(presentation) {}

  void run() override;
  void mark_incomplete(const std::string& reason) override {
    if (file_) file_->mark_incomplete(reason);
  }

 private:
  void make_plan();
  void allocate();
  void describe();
  void open_file();
  void measure();
  void finish();

  BisectionRequest request_;
  Cluster& cluster_;
  const transport::LoadedModule& module_;
  const BisectionPresentation& presentation_;
  std::optional<Surroundings> surroundings_;
  Plan plan_;
  BisectionResult result_;
  std::unique_ptr<MessageBuffers> buffers_;
  std::unique_ptr<result::BisectionFile> file_;
  std::unique_ptr<bench::bisection::Progress> progress_;  // rank 0 only
};

void BisectionRun::make_plan() {
  plan_ = together(cluster_, [&] {
    Plan plan = bench::bisection::plan(request_, surroundings_->presence());
    bench::bisection::check_memory(plan, bench::available_memory_bytes());
    return plan;
  });
}

/// Before the file: memory that an allocator cannot give (huge pages, locked memory) leaves nothing behind.
void BisectionRun::allocate() {
  buffers_ = together(cluster_, [&] {
    surroundings_->check_memory_kind();
    return std::make_unique<MessageBuffers>(request_, cluster_.rank());
  });
}

void BisectionRun::describe() {
  result_.request = request_;
  result_.provenance = surroundings_->provenance();
  for (const schedule::PatternSpec& spec : plan_.named) result_.pattern_names.push_back(spec.name);
  result_.num_players = plan_.ranks.size();
  result_.within_hosts = plan_.players.within_hosts;
  result_.hosts = surroundings_->hosts_with_ranks(surroundings_->gather_host_names());
}

void BisectionRun::open_file() {
  const result::BisectionFileSetup setup{
      .path = request_.output,
      .format = request_.format,
      .existing = request_.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
      .row_path = request_.row_path,
      .place = surroundings_->place(),
      .max_patterns = plan_.max_patterns(request_),
      .max_baseline = plan_.has_random ? request_.rounds * request_.num_baseline_pairs : 0};
  file_ = together(cluster_, [&] { return result::open_bisection_file(cluster_, result_, setup); });
  cluster_.set_on_failure([this](const std::string& message) { file_->mark_incomplete(message); });
}

void BisectionRun::measure() {
  bench::bisection::Measured measured = bench::bisection::measure(
      {request_, plan_, cluster_, surroundings_->transport(), *buffers_, *file_, progress_.get()});
  result_.patterns = std::move(measured.patterns);
  result_.baseline = std::move(measured.baseline);
  result_.sizes = std::move(measured.sizes);
  result_.slow_connections = std::move(measured.slow_connections);
  result_.slow_places = std::move(measured.slow_places);
  result_.verified_bytes = measured.verified_bytes;
  result_.findings = bench::bisection::unfit(surroundings_->conditions(), result_);
}

void BisectionRun::finish() {
  result_.provenance.end_utc = utc_now_iso8601();
  result_.complete = true;
  together(cluster_, [&] { return file_->finish(result_), true; });
  say_at_end(cluster_, file_->path(),
             [&] { return presentation_.summary ? presentation_.summary(result_, file_->path()) : std::string(); });
}

void BisectionRun::run() {
  surroundings_.emplace(request_, cluster_, module_);
  make_plan();
  allocate();
  describe();
  open_file();
  together(cluster_, [&] {
    if (cluster_.rank() == 0 && presentation_.progress) progress_ = presentation_.progress(result_);
    return true;
  });
  measure();
  finish();
}

}  // namespace

BisectionPresentation own_presentation(const BisectionRequest& request) {
  BisectionPresentation presentation;
  presentation.progress = [request](const BisectionResult& so_far) {
    return output::make_bisection_progress(request, so_far.pattern_names.size());
  };
  presentation.summary = output::bisection_summary;
  return presentation;
}

int run_bisection(const BisectionRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                  const transport::LoadedModule& module, const BisectionPresentation& presentation) {
  return run_in_frame(request, std::move(bootstrap), [&](Cluster& cluster, double) {
    return std::make_unique<BisectionRun>(request, cluster, module, presentation);
  });
}

}  // namespace leadline::cli
