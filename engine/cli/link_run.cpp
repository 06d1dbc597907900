// SPDX-License-Identifier: Apache-2.0
// One rank's way through a link test. Ranks agree before they part ways: whatever one of them cannot do, none does.
#include "cli/link_run.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/link/measure.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/unfit.hpp"
#include "cli/standard_streams.hpp"
#include "cli/version.hpp"
#include "cluster/cluster.hpp"
#include "cluster/place.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/number_ranges.hpp"
#include "model/result.hpp"
#include "output/link_progress.hpp"
#include "output/link_summary.hpp"
#include "result/result_file.hpp"
#include "schedule/schedule.hpp"

namespace leadline::cli {
namespace {

using bench::link::Plan;
using cluster::Cluster;

/// Collective: does `work` on every rank; where it fails on any, all throw that error as AgreedError.
template <class Work>
auto together(Cluster& cluster, const Work& work) {
  std::optional<decltype(work())> value;
  std::optional<Error> own;
  try {
    value.emplace(work());
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    own = error;
  }
  try {
    cluster.agree(own ? &*own : nullptr);
  } catch (const Error& error) {
    throw AgreedError(error);
  }
  return std::move(*value);
}

std::string kernel_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

int max_ranks_per_host(const Cluster& cluster) {
  std::vector<int> count(static_cast<std::size_t>(cluster.num_hosts()));
  for (const std::uint32_t host : cluster.host_of()) ++count[host];
  return *std::max_element(count.begin(), count.end());
}

class LinkRun {
 public:
  LinkRun(LinkRequest request, Cluster& cluster, const transport::LoadedModule& module)
      : request_(std::move(request)), cluster_(cluster), module_(module) {}

  /// Throws AgreedError, or an Error of this rank alone.
  void run();

  /// For the one rank that reports, after an agreed error.
  void mark_incomplete(const std::string& reason) {
    if (file_) file_->mark_incomplete(reason);
  }

 private:
  void look_around();
  void open_transport();
  void name_hosts();
  void open_file();
  void measure();
  void collect_hosts();

  LinkRequest request_;
  Cluster& cluster_;
  const transport::LoadedModule& module_;
  bench::link::Conditions conditions_;
  RankPlace place_;
  std::vector<std::uint32_t> make_believe_host_of_;  // empty, unless the fabric names its own hosts
  std::span<const std::uint32_t> host_of_;           // those, or the cluster's
  Plan plan_;
  LinkResult result_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<bench::link::PairMeter> meter_;
  std::unique_ptr<result::ResultFile> file_;
};

/// Who takes part and under which conditions; the plan; whether it fits into memory.
void LinkRun::look_around() {
  result_.provenance.start_utc = utc_now_iso8601();
  place_ = cluster::local_place();
  place_.host = cluster_.host();
  const cluster::CoreShare share = cluster::core_share(cluster_);
  const ClockQuality clock = measure_clock();
  conditions_.num_ranks = cluster_.size();
  conditions_.ranks_per_core_max = share.ranks_per_core_max;
  conditions_.is_bound = !share.is_unbound;
  conditions_.clock = {clock.source, clock.resolution_ns, clock.cost_ns};
  conditions_.wait = request_.wait;
  if (request_.wait == WaitMode::automatic) {
    conditions_.wait = share.ranks_per_core_max > 1 ? WaitMode::yield : WaitMode::spin;
  }
  plan_ = together(cluster_, [&] {
    Plan plan = bench::link::plan(request_, {cluster_.size(), max_ranks_per_host(cluster_)});
    bench::link::check_memory(plan, bench::link::available_memory_bytes());
    return plan;
  });
}

void LinkRun::open_transport() {
  transport_ = together(cluster_, [&] {
    const std::string refusal = module_->refuses_wait(conditions_.wait);
    if (!refusal.empty()) {
      throw Error(
          ExitStatus::bad_command_line,
          fmt::format("--wait {} cannot be had with --transport {}", name_of(conditions_.wait), request_.transport),
          refusal, "Choose another --wait");
    }
    return module_->open({cluster_.rank(), cluster_.size(), cluster_.host_of(), cluster_, conditions_.wait,
                          transport::parse_choice(request_.transport).argument, cluster_.pulse()});
  });
  const bool needs_progress = transport_->needs_progress();
  cluster_.set_wait(conditions_.wait,
                    needs_progress ? [&its = *transport_] { its.progress(); } : std::function<void()>{});
  place_.device = transport_->info().device;
  name_hosts();
  // Before the file: memory that an allocator cannot give (huge pages, locked memory) leaves nothing behind.
  meter_ = together(cluster_,
                    [&] { return std::make_unique<bench::link::PairMeter>(request_, plan_, cluster_, *transport_); });
}

void LinkRun::name_hosts() {
  host_of_ = cluster_.host_of();
  if (transport_->make_believe_host(0).empty()) return;
  std::map<std::string, std::uint32_t> indices;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const auto next = static_cast<std::uint32_t>(indices.size());
    make_believe_host_of_.push_back(indices.try_emplace(transport_->make_believe_host(rank), next).first->second);
  }
  host_of_ = make_believe_host_of_;
  place_.host = transport_->make_believe_host(cluster_.rank());
}

void LinkRun::open_file() {
  Provenance& provenance = result_.provenance;
  provenance.version = version;
  provenance.commit = commit;
  provenance.launcher = cluster_.launcher();
  provenance.kernel = kernel_name();
  provenance.transport = transport_->info();
  provenance.clock = conditions_.clock;
  provenance.wait = conditions_.wait;
  provenance.control_plane_on_loopback = cluster_.on_loopback();
  provenance.num_ranks = cluster_.size();
  provenance.num_hosts = static_cast<int>(*std::max_element(host_of_.begin(), host_of_.end())) + 1;
  conditions_.simulated = provenance.transport.simulated;
  result_.request = request_;
  result_.num_rounds = plan_.num_rounds;

  result::ResultFileSetup setup;
  setup.path = request_.output;
  setup.format = request_.format;
  setup.existing = request_.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse;
  setup.place = place_;
  setup.permutation = [this](int index) { return schedule::permutation(cluster_.size(), request_.seed, index); };
  setup.permutation_of_repeat = [this](int repeat) { return bench::link::permutation_of(request_, repeat); };
  file_ = together(cluster_, [&] { return result::open_result_file(cluster_, result_, std::move(setup)); });
  cluster_.set_on_failure([this](const std::string& message) { file_->mark_incomplete(message); });
  together(cluster_, [&] { return file_->reserve_repeats(plan_.num_repeats), true; });
}

void LinkRun::measure() {
  std::unique_ptr<bench::link::Progress> progress;
  if (cluster_.rank() == 0) progress = output::make_progress(request_);
  bench::link::Measured measured =
      bench::link::measure({request_, plan_, cluster_, *meter_, *file_, host_of_, progress.get()});
  result_.slices = std::move(measured.slices);
  result_.verified_bytes = measured.verified_bytes;
  result_.findings = bench::link::unfit(conditions_, result_.slices);
}

/// Names of the hosts, on rank 0: only now, when the tables that grow with the ranks are gone.
void LinkRun::collect_hosts() {
  std::map<std::uint32_t, std::string> names;
  cluster_.gather(place_.host, [&](int rank, std::string_view host) {
    names.try_emplace(host_of_[static_cast<std::size_t>(rank)], host);
  });
  if (cluster_.rank() != 0) return;
  std::vector<std::vector<int>> ranks(names.size());
  for (std::size_t rank = 0; rank < host_of_.size(); ++rank) ranks[host_of_[rank]].push_back(static_cast<int>(rank));
  for (const auto& [index, name] : names) result_.hosts.push_back({name, number_ranges(ranks[index])});
  for (const SliceSummary& summary : result_.slices) {
    for (const SlowPair& pair : summary.slowest) {
      result_.slow_pair_hosts.push_back(names[host_of_[pair.from]]);
      result_.slow_pair_hosts.push_back(names[host_of_[pair.to]]);
    }
  }
}

void LinkRun::run() {
  look_around();
  open_transport();
  open_file();
  measure();
  collect_hosts();
  result_.provenance.end_utc = utc_now_iso8601();
  result_.complete = true;
  together(cluster_, [&] { return file_->finish(result_), true; });
  const bool json_on_stdout = file_->path() == "-";
  together(cluster_, [&] {
    if (cluster_.rank() == 0 && !json_on_stdout) say(output::link_summary(result_, file_->path()));
    return true;
  });
}

/// The end of a run on which all ranks agree: rank 0 speaks, everybody leaves in order.
int end_in_order(Cluster& cluster, LinkRun& run, const AgreedError& error) {
  if (cluster.rank() == 0) {
    run.mark_incomplete(error.what());
    complain(error.what());
  }
  cluster.leave();
  return static_cast<int>(error.status());
}

}  // namespace

int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module) {
  cluster::JoinOptions options;
  options.timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
  options.interface = request.interface;
  const std::unique_ptr<Cluster> cluster = Cluster::join(std::move(bootstrap), options);
  LinkRun run(request, *cluster, module);
  try {
    run.run();
  } catch (const AgreedError& error) {
    return end_in_order(*cluster, run, error);
  } catch (const Error& error) {
    cluster->abort(error);
  } catch (const std::exception& error) {
    cluster->abort(Error(ExitStatus::run_failed, "something unforeseen happened", error.what(), "Please report it"));
  }
  cluster->leave();
  return 0;
}

}  // namespace leadline::cli
