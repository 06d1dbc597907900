// SPDX-License-Identifier: Apache-2.0
// What of a run is the parallel file test's own.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/io/buffers.hpp"
#include "bench/io/command.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/names.hpp"
#include "bench/io/observed.hpp"
#include "bench/io/output.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/summary.hpp"
#include "bench/io/text.hpp"
#include "bench/io/untimed_files.hpp"
#include "bench/io/validity_warnings.hpp"
#include "bench/plan.hpp"
#include "cluster/rank_placement.hpp"
#include "command/reporting.hpp"
#include "command/run_collectively.hpp"
#include "command/run_command.hpp"
#include "command/run_diagnosis.hpp"
#include "command/text_file.hpp"
#include "core/error.hpp"
#include "core/file_call.hpp"
#include "diagnosis/rows.hpp"
#include "result/shared_file.hpp"
#include "storage/page_cache.hpp"
#include "transport/module.hpp"

namespace leadline::bench::io {
namespace {

/// The options that name a kind of call: "--calls non-blocking --collective".
std::string words_for(const IoRequest& request) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  if (request.calls == storage::FileCalls::non_blocking) add("--calls non-blocking");
  if (request.collective) add("--collective");
  if (request.cache_path == storage::CachePath::direct) add("--direct");
  if (request.cache_path == storage::CachePath::uncached) add("--uncached");
  return text;
}

void refuse_fragile(const IoRequest& request, const storage::Trial& trial) {
  if (trial.works || request.allow_fragile) return;
  throw Error(ExitStatus::something_missing,
              fmt::format("{} cannot be trusted here with --backend {}", words_for(request), request.backend),
              "tried out on a file of its own: " + trial.why,
              "Use other calls, or --allow-fragile to make them all the same");
}

void refuse_missing_calls(const IoRequest& request, const storage::Backend& backend) {
  const std::string why = backend.refuses({request.calls, request.collective, request.cache_path});
  if (why.empty()) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("{} cannot be had with --backend {}", words_for(request), request.backend), why,
              "Leave it out, or choose another --backend");
}

Finding fragile_finding(const IoRequest& request, const storage::Trial& trial) {
  return {"fragile_calls", Severity::warning,
          fmt::format("{} failed when it was tried out before the run", words_for(request)), trial.why,
          "trust these numbers only where every byte was checked"};
}

/// Counts the phases that are stored and, on rank 0, keeps them, for a failure that the watch reports.
class StoredPhases final : public PhaseStore {
 public:
  /// `so_far` is looked at on rank 0 alone.
  StoredPhases(int rank, const IoResult& so_far)
      : so_far_(rank == 0 ? so_far : IoResult{}), rank_(rank), is_rank_0_(rank == 0) {}

  /// Before the first phase; the store outlives the last one.
  void pass_to(PhaseStore& store) { store_ = &store; }

  void write(const PhasePosition& position, const RankPhase& own, const PhaseSummary& summary) override {
    store_->write(position, own, summary);
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(position.index);
    if (index < most_judged_phases) {
      own_rows_.resize(std::max(own_rows_.size(), index + 1));
      own_rows_[index] = judged_row(rank_, position.index, own);
    }
    num_stored_ = static_cast<std::size_t>(position.index) + 1;
    if (is_rank_0_) so_far_.phases.push_back(summary);
  }

  bool any_rank_can_finish() const override { return store_->any_rank_can_finish(); }

  /// This rank's, by phase.
  const std::vector<JudgedRow>& own_rows() const { return own_rows_; }

  /// Behind the last phase.
  void end() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }

  struct SoFar {
    std::size_t num_stored = 0;
    IoResult result;
  };

  /// From the watch thread; nothing behind the last phase.
  std::optional<SoFar> so_far() const {
    const std::lock_guard lock(mutex_);
    if (is_over_) return std::nullopt;
    return SoFar{num_stored_, so_far_};
  }

 private:
  mutable std::mutex mutex_;
  IoResult so_far_;
  std::vector<JudgedRow> own_rows_;
  int rank_;
  bool is_rank_0_, is_over_ = false;
  std::size_t num_stored_ = 0;
  PhaseStore* store_ = nullptr;
};

/// See StagedRun.
class IoTest {
 public:
  static constexpr const char* name = "io";
  using Request = IoRequest;
  using Plan = io::Plan;
  using Memory = io::Buffers;
  using Measured = io::Measured;
  using Result = IoResult;
  using File = io::IoFile;
  using Progress = io::Progress;

  /// It outlives the run.
  explicit IoTest(const IoStart& start) : start_(&start) {}

  Plan plan(const Request& request, const command::RunEnvironment& run_environment, cluster::Cluster& cluster) {
    layout_ = command::diagnosis_layout(cluster, run_environment, request.topology);
    const Names names = gather_names(request, run_environment, cluster);
    Plan plan = command::run_collectively(cluster, [&] {
      Plan made = io::plan(request, run_environment.rank_layout(), names);
      check_memory(made, bench::available_memory_bytes());
      return made;
    });
    rank_ = cluster.rank();
    make_backend(request, cluster);
    if (!request.no_file) {
      files_ = command::run_collectively(
          cluster, [&] { return agree_on_names(request, plan, cluster, run_environment.placement()); });
      command::run_collectively(cluster, [&] {
        const std::string& own = files_.at(static_cast<std::size_t>(plan.layout.file_of(rank_)));
        const InFileCall in_call(cluster.progress_counter().file_call, "looking at", own);
        return check_targets(request, plan, files_, rank_), true;
      });
    }
    if (rank_ == 0 && !files_.empty()) {
      const InFileCall in_call(cluster.progress_counter().file_call, "asking for the file system of", files_.front());
      file_system_ = storage::file_system_of(directory_of(files_.front()));
    }
    file_system_ = cluster.broadcast(file_system_);
    run_ = run_of(request, plan, files_, cluster);
    return plan;
  }

  std::unique_ptr<Memory> allocate(const Request& request, const Plan& plan, cluster::Cluster& cluster,
                                   const command::RunEnvironment& /*run_environment*/) {
    return std::make_unique<Memory>(request, plan, cluster.rank());
  }

  void describe(const Plan& plan, Result& result) {
    result.backend_library = result.request.no_file ? "" : backend_->library();
    result.run = run_;
    result.num_objects = plan.num_objects;
    result.io_ranks = plan.layout.io_ranks().ranks;
    result.file_system = file_system_;
    if (rank_ == 0) result.files = files_;  // of other ranks in take(): one copy of all names is enough
  }

  std::unique_ptr<File> open_file(cluster::Cluster& cluster, const Result& so_far, const Plan& plan,
                                  const RankPlacement& placement) {
    stored_ = std::make_unique<StoredPhases>(rank_, so_far);
    return open_io_file(cluster, so_far,
                        {result::setup_of(so_far.request, placement, layout_.network), plan.phases.size()});
  }

  /// From the watch thread: all phases that this rank knows, with the one in the middle of which the run ends; nothing
  /// where there is none.
  std::optional<Result> interrupted(cluster::Cluster& /*cluster*/, const Plan& plan, const std::string& why,
                                    const cluster::PartialResults& partial_results) const {
    std::optional<StoredPhases::SoFar> so_far = stored_->so_far();
    if (!so_far) return std::nullopt;
    Result result = std::move(so_far->result);
    if (so_far->num_stored < plan.phases.size()) {
      auto phase = interrupted_phase(plan.phases[so_far->num_stored], partial_results, why);
      if (phase) result.phases.push_back(std::move(*phase));
    }
    if (result.phases.empty()) return std::nullopt;
    result.complete = false;
    result.incomplete_reason = why;
    result.operations = summarize_operations(result.phases);
    return result;
  }

  void keep_interrupted(File& file, const Result& result) const {
    if (result.phases.back().is_interrupted) file.keep_interrupted(result.phases.back());
  }

  void measure(cluster::Cluster& cluster, const command::RunEnvironment& run_environment, const Plan& plan,
               Memory& memory, File& file, Progress* progress, const Request& request, Measured& measured) const {
    stored_->pass_to(file);
    io::measure({request, plan, cluster, run_environment.transport(), *backend_, files_, file_system_,
                 run_environment.placement(), run_, memory, *stored_, progress, contents_worker(run_environment)},
                measured);
  }

  bool take(Measured measured, const cluster::Cluster& cluster, const command::RunEnvironment& run_environment,
            const Plan& plan, Result& result) {
    stored_->end();
    result.files = std::move(files_);
    result.phases = std::move(measured.phases);
    if (!schedule::is_funnel(result.request.movement)) result.contents_by = contents_worker(run_environment).by;
    result.operations = std::move(measured.operations);
    result.hints = std::move(measured.hints);
    result.run = measured.run;
    if (result.complete) {  // otherwise they are this rank's alone, or of another number of phases
      result.num_objects = measured.num_objects;
      result.verified_bytes = measured.verified_bytes;
    }
    if (!start_->trial.works) result.findings.push_back(fragile_finding(result.request, start_->trial));
    if (const auto finding = left_out_senders(plan, cluster.lost_ranks())) {
      result.findings.push_back(*finding);
    }
    if (const auto finding = senders_without_link(plan, measured.losses)) {
      result.findings.push_back(*finding);
    }
    if (const auto finding = barriers_without_link(result.request, plan, measured.losses)) {
      result.findings.push_back(*finding);
    }
    std::vector<Finding> findings = validity_warnings(run_environment.conditions(), result);
    result.findings.insert(result.findings.end(), findings.begin(), findings.end());
    return !result.phases.empty();
  }

  /// The root alone has all rows.
  void diagnose(cluster::Cluster& cluster, Result& result) const {
    result.diagnoses.clear();
    std::vector<JudgedRow> rows;
    cluster.gather(diagnosis::bytes_of(std::span(stored_->own_rows())), [&](int, std::string_view bytes) {
      const auto of_rank = diagnosis::entries_of<JudgedRow>(bytes);
      rows.insert(rows.end(), of_rank.begin(), of_rank.end());
    });
    cluster.progress_counter().advance();
    if (!cluster.is_root()) return;
    std::vector<JudgedPhase> phases;
    for (const PhaseSummary& phase : result.phases) {
      const bool is_read = phase.position.operation == IoOperation::read;
      phases.push_back({phase.position.operation, phase.is_complete, is_read ? name_of(phase.source) : ""});
    }
    std::erase_if(rows, [&](const JudgedRow& row) { return static_cast<std::size_t>(row.phase) >= phases.size(); });
    result.diagnoses =
        diagnosed(header_of(result), phases, rows, judged_findings(result.findings), layout_, result.request.diagnosis);
  }

 private:
  static ContentsWorker contents_worker(const command::RunEnvironment& run_environment) {
    const std::optional<cluster::CpuList>& cpus = run_environment.second_core();
    return cpus ? ContentsWorker{ContentsBy::helper, *cpus} : ContentsWorker{};
  }

  void make_backend(const Request& request, cluster::Cluster& cluster) {
    command::run_collectively(cluster, [&] { return refuse_fragile(request, start_->trial), true; });
    backend_ = command::run_collectively(cluster, [&] {
      return start_->backend->make({rank_, cluster.size(), start_->backend.argument()});
    });
    command::run_collectively(cluster, [&] { return refuse_missing_calls(request, *backend_), true; });
  }

  const IoStart* start_;
  diagnosis::Layout layout_;
  int rank_ = 0;
  std::unique_ptr<storage::Backend> backend_;
  std::vector<std::string> files_;
  std::string file_system_;
  std::uint64_t run_ = 0;
  std::unique_ptr<StoredPhases> stored_;
};

/// Where the target of rank 0 lies.
std::string directory_of_target(const IoRequest& request) {
  std::string name = request.target;
  if (!request.targets_file.empty()) {
    name = command::names_in_targets(request.targets_file, command::read_targets_file(request.targets_file)).front();
  }
  const RankPlacement placement = cluster::local_placement();
  return directory_of(expand_target(name, {0, placement.host, placement.pid}));
}

bool is_fragile(const storage::Entry& backend, const IoRequest& request) {
  return backend.needs_mpi && (request.calls == storage::FileCalls::non_blocking || request.collective);
}

storage::Trial tried(const IoRequest& request, const storage::LoadedBackend& backend) {
  const std::string directory = directory_of_target(request);
  try {
    return storage::try_out(backend, {request.calls, request.collective, request.cache_path}, directory);
  } catch (const Error&) {
    std::error_code ignored;
    if (std::filesystem::is_directory(directory, ignored)) throw;
    return {};  // of a directory that is not there others will complain
  }
}

constexpr int hexadecimal = 16;

std::uint64_t random_run() { return std::stoull(result::random_nonce().substr(0, 16), nullptr, hexadecimal); }

/// By index, in lines; on rank 0.
std::string host_lines(const command::RunEnvironment& run_environment) {
  std::string text;
  for (const auto& [index, name] : run_environment.host_names()) text += name + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

IoPresentation own_presentation(const IoRequest& request) {
  IoPresentation presentation;
  presentation.progress = [request](const IoResult&) { return make_io_progress(request); };
  presentation.summary = io_summary;
  presentation.summarizes_failures = true;
  return presentation;
}

std::unique_ptr<command::BenchmarkRun> rank_run(const IoRequest& request, cluster::Cluster& cluster,
                                                const transport::LoadedModule& module, const IoStart& start,
                                                const IoPresentation& presentation, double joining_s) {
  return command::staged_run(request, cluster, module, presentation, joining_s, IoTest(start));
}

int run_io(const IoRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
           const transport::LoadedModule& module, const IoStart& start, const IoPresentation& presentation) {
  return command::run_in_frame(request, std::move(bootstrap), [&](cluster::Cluster& cluster, double joining_s) {
    return rank_run(request, cluster, module, start, presentation, joining_s);
  });
}

IoStart start_io(IoRequest& request, cluster::FrontEnd front_end) {
  const cluster::Launcher launcher = cluster::detect_launcher(front_end);
  const std::string transport = transport::parse_choice(command::transport_for(request, launcher)).name;
  if (request.backend.empty())
    request.backend = transport == "mpi" && !request.no_file && !request.metadata ? "mpi-io" : "posix";
  IoStart start{storage::load_backend(request.backend, launcher), {}};
  const storage::Entry& entry = start.backend.entry();
  validate_backend_options(request, entry.name);
  if (entry.needs_mpi && transport != "mpi") {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--backend {} cannot be had with --transport {}", request.backend, transport),
                "its MPI library is started only where messages go by MPI", "Use --transport mpi or --backend posix");
  }
  if (is_fragile(entry, request) && cluster::rank_hint(front_end) == 0) start.trial = tried(request, start.backend);
  return start;
}

std::uint64_t run_of(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files,
                     cluster::Cluster& cluster) {
  const std::string own = command::run_collectively(
      cluster, [&] { return cluster.rank() == 0 ? std::to_string(random_run()) : std::string(); });
  const std::uint64_t run = std::stoull(cluster.broadcast(own));
  if (request.operations != IoOperations::read || request.no_file) return run;
  return writing_of_earlier_run(request, plan, files, cluster, {run, 0}).run;
}

Names gather_names(const IoRequest& request, const command::RunEnvironment& run_environment,
                   cluster::Cluster& cluster) {
  Names names;
  names.hosts = lines_of(cluster.broadcast(host_lines(run_environment)));
  const std::string own = command::run_collectively(
      cluster, [&] { return cluster.rank() == 0 ? command::read_targets_file(request.targets_file) : std::string(); });
  const std::string targets = cluster.broadcast(own);
  names.targets =
      command::run_collectively(cluster, [&] { return command::names_in_targets(request.targets_file, targets); });
  return names;
}

Names dry_run_names(const IoRequest& request, const command::DryRunRanks& ranks) {
  Names names;
  const std::size_t num_hosts = ranks.host_of.empty() ? 0 : std::size_t{1} + ranks.host_of.back();
  for (std::size_t host = 0; host < num_hosts; ++host) {
    names.hosts.push_back(host < request.io_hosts.size() ? request.io_hosts[host] : fmt::format("host{}", host));
  }
  names.targets = command::names_in_targets(request.targets_file, command::read_targets_file(request.targets_file));
  return names;
}

}  // namespace leadline::bench::io
