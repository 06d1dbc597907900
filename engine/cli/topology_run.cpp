// SPDX-License-Identifier: Apache-2.0
// One rank's way through a topology test. Ranks agree before they part ways: whatever one cannot do, none does.
#include "cli/topology_run.hpp"

#include <optional>
#include <utility>

#include "bench/free_memory.hpp"
#include "bench/message_slots.hpp"
#include "bench/topology/measure.hpp"
#include "bench/topology/plan.hpp"
#include "bench/topology/unfit.hpp"
#include "cli/edges_file.hpp"
#include "cli/run_frame.hpp"
#include "cli/surroundings.hpp"
#include "cli/together.hpp"
#include "core/clock.hpp"
#include "output/topology_text.hpp"
#include "result/topology_file.hpp"

namespace leadline::cli {
namespace {

using bench::MessageSlots;
using bench::topology::Plan;
using cluster::Cluster;

class TopologyRun final : public BenchmarkRun {
 public:
  TopologyRun(TopologyRequest request, Cluster& cluster, const transport::LoadedModule& module,
              const TopologyPresentation& presentation)
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

  TopologyRequest request_;
  Cluster& cluster_;
  const transport::LoadedModule& module_;
  const TopologyPresentation& presentation_;
  std::optional<Surroundings> surroundings_;
  Plan plan_;
  TopologyResult result_;
  std::unique_ptr<MessageSlots> slots_;
  std::unique_ptr<result::TopologyFile> file_;
  std::unique_ptr<bench::topology::Progress> progress_;  // rank 0 only
};

/// Other hosts may not see the file with the edges: rank 0 reads it for all.
void TopologyRun::make_plan() {
  const std::string own =
      together(cluster_, [&] { return cluster_.rank() == 0 ? read_edges_file(request_.edges_file) : std::string(); });
  const std::string edges = cluster_.broadcast(own);
  plan_ = together(cluster_, [&] {
    Plan plan = bench::topology::plan(request_, surroundings_->presence(), edges);
    bench::topology::check_memory(plan, bench::available_memory_bytes());
    return plan;
  });
}

/// Before the file: memory that an allocator cannot give (huge pages, locked memory) leaves nothing behind.
void TopologyRun::allocate() {
  slots_ = together(cluster_, [&] {
    surroundings_->check_memory_kind();
    const std::uint32_t num = bench::topology::num_slots(request_, plan_, cluster_.rank());
    return std::make_unique<MessageSlots>(request_, num, cluster_.rank());
  });
}

void TopologyRun::describe() {
  result_.request = request_;
  result_.provenance = surroundings_->provenance();
  result_.topologies = bench::topology::facts_of(plan_);
  result_.hosts = surroundings_->hosts_with_ranks(surroundings_->gather_host_names());
}

void TopologyRun::open_file() {
  const bool is_load = request_.duration_s > 0;
  result::TopologyFileSetup setup{
      .path = request_.output,
      .format = request_.format,
      .existing = request_.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
      .row_path = request_.row_path,
      .place = surroundings_->place(),
      .cells = is_load ? std::vector<Cell>{} : plan_.cells,
      .topologies = plan_.topologies};
  file_ = together(cluster_, [&] { return result::open_topology_file(cluster_, result_, std::move(setup)); });
  cluster_.set_on_failure([this](const std::string& message) { file_->mark_incomplete(message); });
}

void TopologyRun::measure() {
  bench::topology::Measured measured = bench::topology::measure(
      {request_, plan_, cluster_, surroundings_->transport(), *slots_, *file_, progress_.get()});
  result_.cells = std::move(measured.cells);
  result_.load = std::move(measured.load);
  result_.verified_bytes = measured.verified_bytes;
  result_.findings = bench::topology::unfit(surroundings_->conditions(), result_);
}

void TopologyRun::finish() {
  result_.provenance.end_utc = utc_now_iso8601();
  result_.complete = true;
  together(cluster_, [&] { return file_->finish(result_), true; });
  say_at_end(cluster_, file_->path(),
             [&] { return presentation_.summary ? presentation_.summary(result_, file_->path()) : std::string(); });
}

void TopologyRun::run() {
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

TopologyPresentation own_presentation(const TopologyRequest& request) {
  TopologyPresentation presentation;
  presentation.progress = [request](const TopologyResult& so_far) {
    return output::make_topology_progress(request, so_far.topologies);
  };
  presentation.summary = output::topology_summary;
  return presentation;
}

int run_topology(const TopologyRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
                 const transport::LoadedModule& module, const TopologyPresentation& presentation) {
  return run_in_frame(request, std::move(bootstrap), [&](Cluster& cluster, double) {
    return std::make_unique<TopologyRun>(request, cluster, module, presentation);
  });
}

}  // namespace leadline::cli
