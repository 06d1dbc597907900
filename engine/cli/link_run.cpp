// SPDX-License-Identifier: Apache-2.0
// One rank's way through a link test. Ranks agree before they part ways: whatever one of them cannot do, none does.
#include "cli/link_run.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
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
#include "memory/buffer.hpp"
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

class Stopwatch {
 public:
  double elapsed_s() const { return 1e-9 * static_cast<double>(now_ns() - start_ns_); }
  /// Time since the last lap, or the start.
  double lap_s() {
    const double elapsed = elapsed_s();
    start_ns_ = now_ns();
    return elapsed;
  }

 private:
  std::uint64_t start_ns_ = now_ns();
};

class LinkRun {
 public:
  /// `joining_s`: how long it took until the ranks knew each other.
  LinkRun(LinkRequest request, Cluster& cluster, const transport::LoadedModule& module,
          const Presentation& presentation, double joining_s)
      : request_(std::move(request)),
        cluster_(cluster),
        module_(module),
        presentation_(presentation),
        joining_s_(joining_s) {}

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
  void phase_done(bench::link::Phase phase, double seconds) {
    if (progress_ != nullptr) progress_->phase_done(phase, seconds);
  }

  LinkRequest request_;
  Cluster& cluster_;
  const transport::LoadedModule& module_;
  const Presentation& presentation_;
  double joining_s_;
  bench::link::Conditions conditions_;
  RankPlace place_;
  std::vector<std::uint32_t> make_believe_host_of_;  // empty, unless the fabric names its own hosts
  std::span<const std::uint32_t> host_of_;           // those, or the cluster's
  Plan plan_;
  LinkResult result_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<bench::link::PairMeter> meter_;
  std::unique_ptr<result::ResultFile> file_;
  std::unique_ptr<bench::link::Progress> progress_;  // rank 0 only
};

/// Who takes part, and under which conditions.
void LinkRun::look_around() {
  result_.provenance.start_utc = utc_now_iso8601();
  place_ = cluster::local_place();
  place_.host = cluster_.host();
  const cluster::CoreShare share = cluster::core_share(cluster_);
  const ClockQuality clock = measure_clock();
  conditions_.ranks_per_core_max = share.ranks_per_core_max;
  conditions_.is_bound = !share.is_unbound;
  conditions_.clock = {clock.source, clock.resolution_ns, clock.cost_ns};
  conditions_.wait = request_.wait;
  if (request_.wait == WaitMode::automatic) {
    conditions_.wait = share.ranks_per_core_max > 1 ? WaitMode::yield : WaitMode::spin;
  }
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

/// After the transport has said which hosts there are to believe in: the plan, and whether it fits into memory.
void LinkRun::make_plan() {
  plan_ = together(cluster_, [&] {
    Plan plan = bench::link::plan(request_, {cluster_.size(), max_ranks_per_host(cluster_), host_of_});
    bench::link::check_memory(plan, bench::link::available_memory_bytes());
    return plan;
  });
  conditions_.num_players = plan_.num_players;
}

/// What only a GPU's memory or a real message can do.
void LinkRun::check_limits() {
  const memory::Place place = memory::allocator_named(request_.allocator).place;
  if (const std::string refusal = module_->refuses_memory(place); !refusal.empty()) {
    throw Error(ExitStatus::something_missing,
                fmt::format("transport {} cannot use {} memory", request_.transport, memory::name_of(place)), refusal,
                "Choose another --transport or --allocator");
  }
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
    return std::make_unique<bench::link::PairMeter>(request_, plan_, cluster_, *transport_);
  });
}

/// A line of each rank about itself, where the front end has one.
void LinkRun::name_ranks() {
  if (!presentation_.rank_line) return;
  const std::string own = presentation_.rank_line(cluster_.rank(), place_);
  cluster_.gather(own, [](int, std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); });
}

void LinkRun::describe() {
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
}

/// By partner: the number of the round in which the two meet, of the plain schedule with many pairs at once; 0 = they
/// do not. So a serial test has the numbers of the rounds that its pairs would share.
std::vector<std::int32_t> LinkRun::own_rounds(int repeat) const {
  schedule::Spec spec = bench::link::schedule_spec(request_, plan_.presence, repeat);
  std::vector<std::int32_t> rounds(static_cast<std::size_t>(cluster_.size()));
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
  setup.place = place_;
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
      bench::link::measure({request_, plan_, cluster_, *meter_, *file_, host_of_, progress_.get()});
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
  using bench::link::Phase;
  const Stopwatch everything;
  Stopwatch phase;
  look_around();
  open_transport();
  name_hosts();
  const double placing_s = phase.lap_s();
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
  result_.provenance.end_utc = utc_now_iso8601();
  result_.complete = true;
  phase.lap_s();
  together(cluster_, [&] { return file_->finish(result_), true; });
  phase_done(Phase::closing_file, phase.lap_s());
  const bool json_on_stdout = file_->path() == "-";
  together(cluster_, [&] {
    if (cluster_.rank() == 0 && !json_on_stdout && presentation_.summary) {
      say(presentation_.summary(result_, file_->path()));
    }
    return true;
  });
  phase_done(Phase::everything, joining_s_ + everything.elapsed_s());
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

Presentation own_presentation(const LinkRequest& request) {
  Presentation presentation;
  presentation.progress = [request](const LinkResult&) { return output::make_progress(request); };
  presentation.summary = output::link_summary;
  return presentation;
}

int run_link(const LinkRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
             const transport::LoadedModule& module, const Presentation& presentation) {
  cluster::JoinOptions options;
  options.timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
  options.interface = request.interface;
  options.host_name_suffix = request.host_name_suffix;
  const Stopwatch joining;
  const std::unique_ptr<Cluster> cluster = Cluster::join(std::move(bootstrap), options);
  LinkRun run(request, *cluster, module, presentation, joining.elapsed_s());
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
