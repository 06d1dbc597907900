// SPDX-License-Identifier: Apache-2.0
// A part that cannot be measured takes no other with it; what ends the run on all ranks ends the check.
#include "check/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/bisection/command.hpp"
#include "bench/congestion/command.hpp"
#include "bench/congestion/plan.hpp"
#include "bench/link/command.hpp"
#include "bench/link/profiled_file.hpp"
#include "bench/lost_pairs.hpp"
#include "check/assess.hpp"
#include "check/gpus.hpp"
#include "check/json.hpp"
#include "check/sample.hpp"
#include "check/text.hpp"
#include "command/join.hpp"
#include "command/reporting.hpp"
#include "command/run_collectively.hpp"
#include "command/run_command.hpp"
#include "command/stopwatch.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "memory/buffer.hpp"
#include "output/table.hpp"
#include "result/output_file.hpp"

namespace leadline::check {
namespace {

using cluster::Cluster;

/// Of the time of a part: the rest is for measuring suspects again.
constexpr double share_of_patterns = 0.7, share_of_phase = 0.4, share_of_congestion = 0.7;
/// A part that has less time begins all the same: a little of everything is better than all of one.
constexpr double least_part_s = 0.5;

/// Where there is no time for enough rounds tests are shorter, but not below the last of these.
constexpr std::uint32_t most_rounds = 100;
constexpr double test_times_s[] = {0.1, 0.05, 0.02, 0.01};

constexpr std::uint64_t num_small_messages = 100, num_large_messages = 10;

std::string path_in_folder(const CheckRequest& check, const std::string& name) {
  return (std::filesystem::path(check.output) / name).string();
}

/// What all parts have in common with the check.
template <typename Request>
void take_over(const CheckRequest& check, const std::string& part, Request& request) {
  static_cast<RunRequest&>(request) = check;
  request.format = check.no_files ? ResultFormat::none : ResultFormat::hdf5;
  request.output = check.no_files ? "" : path_in_folder(check, part + ".h5");
  request.topology = check.topology;
  if constexpr (requires { request.diagnosis; }) {
    request.diagnosis.threshold = std::max(1 / std::max(check.fail, check.warn) - 1, 0.001);
    request.diagnosis.false_discovery_rate = check.false_discovery_rate;
  }
}

bench::link::LinkRequest link_request(const CheckRequest& check, const std::string& part, std::uint64_t size_bytes,
                                      std::uint64_t num_messages, double budget_s, bool has_profile) {
  bench::link::LinkRequest request;
  take_over(check, part, request);
  request.message_sizes_bytes = {size_bytes};
  request.num_messages = num_messages;
  request.num_warmup = num_messages / 10;
  request.num_batches = static_cast<std::uint32_t>(std::min<std::uint64_t>(num_messages, request.num_batches));
  request.budget_s = budget_s;
  request.seed = request.shuffle_rounds_seed = request.shuffle_ranks_seed = check.seed;
  request.routes = check.routes;
  if (has_profile) request.profile = check.profile;
  return request;
}

bench::bisection::BisectionRequest bisection_request(const CheckRequest& check, double time_s) {
  bench::bisection::BisectionRequest request;
  take_over(check, "bisection", request);
  request.message_sizes_bytes = {check.bandwidth_size_bytes};
  request.num_exchanges = num_large_messages;
  request.num_warmup = 1;
  request.seed = check.seed;
  request.time_limit_s = std::round(100 * share_of_patterns * time_s) / 100;
  return request;
}

class CheckRun final : public command::BenchmarkRun {
 public:
  CheckRun(const CheckRequest& request, Cluster& cluster, const transport::LoadedModule& module,
           const bench::io::IoStart* io_start, const std::optional<Sample>& sample, double joining_s)
      : request_(request),
        sample_(sample),
        cluster_(cluster),
        module_(module),
        io_start_(io_start),
        joining_s_(joining_s),
        steps_("leadline check", request.verbose && cluster.rank() == 0),
        own_host_(cluster.host_of()[static_cast<std::size_t>(cluster.rank())]) {}

  void run() override {
    try {
      run_parts();
    } catch (const AgreedError& error) {
      if (request_.form != Form::nagios) throw;
      throw AgreedError(nagios_error(error));
    }
  }

  ExitStatus status() const override {
    if (request_.form == Form::nagios) return static_cast<ExitStatus>(nagios_status(state_));
    const bool is_other_host = request_.status_of_host && state_ == State::bad && !is_to_be_drained_;
    return is_other_host ? ExitStatus::ok : static_cast<ExitStatus>(exit_status(state_));
  }

  void mark_incomplete(const std::string& /*reason*/) override {}

 private:
  void run_parts() {
    look_at_outputs();
    read_profile();
    std::vector<PlannedPart> left = planned_parts(request_);
    for (bool is_first = true; !left.empty(); is_first = false) {
      double share_left = 0;
      for (const PlannedPart& one : left) share_left += one.share;
      const PlannedPart next = left.front();
      left.erase(left.begin());
      measure(next, time_for(next.share / share_left));
      if (is_first && find_gpus()) {
        left.insert(std::ranges::find(left, std::string("bisection"), &PlannedPart::name), gpu_part());
      }
    }
    if (first_error_ && !has_anything_) throw *first_error_;
    finish();
  }

  /// Before anything is measured: what can be written at the end.
  void look_at_outputs() {
    command::run_collectively(cluster_, [&] {
      if (request_.congestion) bench::congestion::expect_enough_ranks(static_cast<std::size_t>(cluster_.size()));
      if (cluster_.rank() != 0) return true;
      if (!request_.json_path.empty()) result::StagedFile(request_.json_path, existing());
      if (!request_.metrics_path.empty()) {
        result::StagedFile(request_.metrics_path, result::ExistingFile::overwrite);
      }
      if (!request_.target.empty() && !std::filesystem::is_directory(request_.target)) {
        throw Error(ExitStatus::bad_command_line, fmt::format("--target '{}' is no folder", request_.target), "",
                    "Name a folder on the file system that is to be tested");
      }
      if (!request_.no_files) make_folder();
      return true;
    });
  }

  void make_folder() const {
    std::error_code error;
    const bool is_made = std::filesystem::create_directory(request_.output, error);
    if (error) {
      const bool is_forbidden = error == std::errc::permission_denied || error == std::errc::operation_not_permitted ||
                                error == std::errc::read_only_file_system;
      throw Error(is_forbidden ? ExitStatus::something_missing : ExitStatus::bad_command_line,
                  fmt::format("the folder '{}' cannot be made", request_.output), error.message(),
                  "Name another one with --output, or leave it out with --no-files");
    }
    if (!is_made && !request_.overwrite && !std::filesystem::is_empty(request_.output, error)) {
      throw Error(ExitStatus::bad_command_line, fmt::format("the folder '{}' is not empty", request_.output),
                  "results of another check may be in it", "Name another one with --output, or add --overwrite");
    }
  }

  /// Rank 0 alone reads it: for which of both sizes there is anything in it.
  void read_profile() {
    if (request_.profile.empty()) return;
    const std::string own = command::run_collectively(cluster_, [&]() -> std::string {
      if (cluster_.rank() != 0) return {};
      const auto profile = bench::link::read_profile(request_.profile, {}).profile;
      std::string known;
      for (const std::uint64_t size : {request_.latency_size_bytes, request_.bandwidth_size_bytes}) {
        const bool is_known =
            std::ranges::find(profile.classes, size, &ProfiledClass::message_size_bytes) != profile.classes.end();
        known += is_known ? '1' : '0';
      }
      if (known == "00") {
        throw Error(ExitStatus::bad_command_line,
                    fmt::format("nothing can be judged by the site profile '{}'", request_.profile),
                    "it knows neither --latency-size nor --bandwidth-size",
                    "Make one of checks of the same sizes, or leave out --profile");
      }
      return known;
    });
    const std::string known = cluster_.broadcast(own);
    has_latency_profile_ = known.front() == '1';
    has_bandwidth_profile_ = known.back() == '1';
  }

  /// Collective: rank 0's clock counts.
  double time_for(double share) {
    const double left_s = request_.budget_s - watch_.elapsed_s();
    const std::string text = cluster_.broadcast(fmt::format("{:.2f}", std::max(share * left_s, least_part_s)));
    return std::stod(text);
  }

  /// Collective, behind the first part, which has told each rank which one of its host it is, so that each takes a GPU
  /// of its own. Whether something is to be measured between GPUs.
  bool find_gpus() {
    const bool is_simulated = transport::parse_choice(request_.transport).name == "model";
    const bool are_messages_there = memory::allocator_named(request_.allocator).location == memory::Location::gpu;
    if (is_simulated || are_messages_there || !cluster_.lost_ranks().empty()) return false;
    const bool is_own_fit = module_->refuses_memory(memory::Location::gpu).empty();
    gpu_links_ = find_gpu_links(cluster_, is_own_fit ? request_.transport : "");
    if (!gpu_links_.why_not.empty()) {
      tell(fmt::format("not measuring between GPUs: {}", gpu_links_.why_not));
    }
    return !gpu_links_.transport.empty();
  }

  void tell(const std::string& line) const {
    if (cluster_.is_root() && !request_.quiet) std::fputs((line + "\n").c_str(), stderr);
  }

  void measure(const PlannedPart& planned, double time_s) {
    tell(fmt::format("measuring {}, at most {}", planned.name, output::format_duration(time_s)));
    PartResult part;
    part.part = {planned.name, planned.benchmark, "", "", 0};
    if (planned.name == "latency") {
      measure_link(part,
                   link_request(request_, planned.name, request_.latency_size_bytes, num_small_messages, time_s,
                                has_latency_profile_),
                   module_, Measure::latency);
    } else if (planned.name == "bandwidth") {
      measure_link(part,
                   link_request(request_, planned.name, request_.bandwidth_size_bytes, num_large_messages, time_s,
                                has_bandwidth_profile_),
                   module_, Measure::bandwidth);
    } else if (planned.name == "gpu") {
      measure_gpus(part, time_s);
    } else if (planned.name == "bisection") {
      measure_part<bench::bisection::BisectionPresentation>(part, [&](const auto& presentation) {
        return bench::bisection::rank_run(bisection_request(request_, time_s), cluster_, module_, presentation,
                                          joining_s_);
      });
    } else if (planned.name == "congestion") {
      measure_congestion(part, time_s);
    } else {
      measure_part<bench::io::IoPresentation>(part, [&](const auto& presentation) {
        return bench::io::rank_run(
            files_request(request_, std::round(100 * share_of_phase * time_s) / 100, cluster_.num_hosts()), cluster_,
            module_, *io_start_, presentation, joining_s_);
      });
    }
  }

  /// Each rank's messages lie in its GPU. The site profile is one of host memory.
  void measure_gpus(PartResult& part, double time_s) {
    auto request =
        link_request(request_, part.part.name, request_.bandwidth_size_bytes, num_large_messages, time_s, false);
    request.allocator = "cuda";
    part.pci_bus_ids = gpu_links_.pci_bus_ids;
    if (cluster_.num_hosts() == 1) request.budget_s = 0;  // all rounds: of so few, a sample would leave some pairs out
    if (gpu_links_.transport == request_.transport) return measure_link(part, request, module_, Measure::gpu);
    request.transport = gpu_links_.transport;
    request.transport_options.clear();
    const transport::LoadedModule module = transport::open_module(request.transport);
    if (const std::string refusal = module->refuses_wait(request.wait); !refusal.empty()) {
      tell(fmt::format("--wait {} does not hold between GPUs: {}", name_of(request.wait), refusal));
      request.wait = WaitMode::automatic;
    }
    measure_link(part, request, module, Measure::gpu);
  }

  void measure_link(PartResult& part, const bench::link::LinkRequest& request, const transport::LoadedModule& module,
                    Measure which) {
    bench::link::LinkPresentation presentation;
    presentation.adapt = [&](const auto& /*request*/, const bench::RankLayout& rank_layout) {
      own_host_ = rank_layout.host_of[static_cast<std::size_t>(cluster_.rank())];
    };
    presentation.summary = [&](const bench::link::LinkResult& result, const std::string& path) {
      part.part.path = path;
      take(result, which, part);
      return std::string();
    };
    run_part(part, [&] { return bench::link::rank_run(request, cluster_, module, presentation, joining_s_); });
  }

  void measure_congestion(PartResult& part, double time_s) {
    bench::congestion::CongestionPresentation presentation;
    presentation.summary = [&](const bench::congestion::CongestionResult& result, const std::string& path) {
      part.part.path = path;
      take(result, request_, part);
      return std::string();
    };
    run_part(part, [&] {
      return bench::congestion::rank_run(congestion_request(request_, time_s), cluster_, module_, presentation,
                                         joining_s_);
    });
  }

  template <typename Presentation, typename Make>
  void measure_part(PartResult& part, const Make& make_run) {
    Presentation presentation;
    presentation.summary = [&](const auto& result, const std::string& path) {
      part.part.path = path;
      take(result, part);
      return std::string();
    };
    run_part(part, [&] { return make_run(presentation); });
  }

  /// The part's own status does not count: what is slow is graded here.
  template <typename Make>
  void run_part(PartResult& part, const Make& make_run) {
    const command::Stopwatch stopwatch;
    const std::unique_ptr<command::BenchmarkRun> run = make_run();
    try {
      command::run_agreed(cluster_, *run);
      has_anything_ = true;
    } catch (const AgreedError& error) {
      if (cluster_.is_root()) run->mark_incomplete(error.what());
      if (error.status() == ExitStatus::bad_command_line && !has_anything_) throw;
      if (!first_error_) first_error_ = error;
      part.part.why_not = error.what();
    }
    cluster_.barrier();  // nobody closes a link that another one still looks at
    cluster_.set_on_failure({});
    part.part.elapsed_s = stopwatch.elapsed_s();
    steps_.done(fmt::format("{} {}", part.part.why_not.empty() ? "measured" : "could not measure", part.part.name));
    parts_.push_back(std::move(part));
  }

  void finish() {
    std::string answer, reasons;
    command::run_on_root(cluster_, [&] {
      CheckResult result = assessed(request_, parts_, sample_);
      result.elapsed_s = watch_.elapsed_s();
      result.provenance.end_utc = utc_now_iso8601();
      command::say_if_read(text_of(result));  // whether files can be written or not
      write(result);
      if (exit_status(result.state) != 0) command::complain(result.why);
      answer = std::to_string(static_cast<int>(result.state));
      Json reason_of_host = Json::array();
      for (const HostRanks& one : result.hosts) reason_of_host.push_back(why_drained(result, one.host));
      reasons = reason_of_host.in_one_line();
    });
    state_ = static_cast<State>(std::stoi(cluster_.broadcast(answer)));
    if (request_.status_of_host) look_at_own_host(cluster_.broadcast(reasons));
  }

  /// Each rank says it: a prolog has but the output of its own host.
  void look_at_own_host(const std::string& reasons) {
    const Json reason_of_host = Json::parse(reasons);
    const std::string why = own_host_ < reason_of_host.size() ? reason_of_host.at(own_host_).get<std::string>() : "";
    is_to_be_drained_ = !why.empty();
    if (is_to_be_drained_) command::complain(why);
  }

  result::ExistingFile existing() const {
    return request_.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse;
  }

  void write(const CheckResult& answer) const {
    const std::string document = json_text(answer);
    if (!request_.no_files) {
      result::write_document(path_in_folder(request_, "check.json"), result::ExistingFile::overwrite, document);
    }
    if (!request_.json_path.empty()) result::write_document(request_.json_path, existing(), document);
    if (!request_.metrics_path.empty()) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      result::write_document(request_.metrics_path, result::ExistingFile::overwrite,
                             metrics_text(answer, std::chrono::duration<double>(now).count()));
    }
  }

  const CheckRequest& request_;
  const std::optional<Sample>& sample_;
  Cluster& cluster_;
  const transport::LoadedModule& module_;
  const bench::io::IoStart* io_start_;
  double joining_s_;
  command::StepLog steps_;
  command::Stopwatch watch_;
  bool has_latency_profile_ = false, has_bandwidth_profile_ = false;
  GpuLinks gpu_links_;
  std::vector<PartResult> parts_;  // on the root
  bool has_anything_ = false;
  std::optional<AgreedError> first_error_;
  State state_ = State::untested;
  std::uint32_t own_host_;         // its number; that of a simulated host where the transport simulates some
  bool is_to_be_drained_ = false;  // this host
};

}  // namespace

std::vector<PlannedPart> planned_parts(const CheckRequest& request) {
  std::vector<PlannedPart> parts{{"latency", "link", 0.2}, {"bandwidth", "link", 0.3}, {"bisection", "bisection", 0.3}};
  if (request.congestion) parts.push_back({"congestion", "congestion", 0.3});
  if (!request.target.empty()) parts.push_back({"files", "io", 0.3});
  return parts;
}

PlannedPart gpu_part() { return {"gpu", "link", 0.2}; }

bench::congestion::CongestionRequest congestion_request(const CheckRequest& check, double time_s) {
  bench::congestion::CongestionRequest request;
  const std::vector<std::uint64_t> own_sizes = request.message_sizes_bytes;
  take_over(check, "congestion", request);
  request.message_sizes_bytes = own_sizes;
  request.intensities = {"100%"};
  request.seed = check.seed;
  double num_rounds = 0;
  for (const double test_time_s : test_times_s) {
    request.test_time_s = test_time_s;
    num_rounds = share_of_congestion * time_s / bench::congestion::seconds_of(request, {0, 100});
    if (num_rounds >= bench::congestion::fewest_rounds_of_interval) break;
  }
  request.rounds = static_cast<std::uint32_t>(
      std::clamp<double>(num_rounds, bench::congestion::fewest_rounds_of_interval, most_rounds));
  return request;
}

bench::io::IoRequest files_request(const CheckRequest& check, double time_limit_s, int num_hosts) {
  bench::io::IoRequest request;
  take_over(check, "files", request);
  request.object_size_bytes = 1 << 20;
  request.num_objects = std::max<std::uint64_t>(check.target_size_bytes / request.object_size_bytes, 1);
  request.message_sizes_bytes = {request.object_size_bytes};
  request.backend = "posix";
  request.target = (std::filesystem::path(check.target) / "leadline-check.%r").string();
  request.delete_files = true;
  request.time_limit_s = time_limit_s;
  if (num_hosts > 1) {
    request.read_shift = bench::io::ReadShift::hosts;
    request.read_shift_by = 1;
  } else {
    request.between = bench::io::BetweenPhases::drop;
  }
  return request;
}

namespace {

/// Collective: the ranks on the hosts of --sample, in ascending order. What it is about goes into `sample`.
std::vector<int> choose_ranks(CheckRequest& request, Cluster& all, std::optional<Sample>& sample) {
  request.seed = std::stoull(all.broadcast(std::to_string(request.seed)));
  std::map<std::uint32_t, std::vector<int>> ranks_on;  // by host, of those that have come
  for (int rank = 0; rank < all.size(); ++rank) {
    if (cluster::is_lost(all.lost_ranks(), rank)) continue;
    ranks_on[all.host_of()[static_cast<std::size_t>(rank)]].push_back(rank);
  }
  command::run_collectively(all, [&] {
    if (ranks_on.size() > 1) return true;
    throw Error(ExitStatus::bad_command_line, "--sample has no effect here", "all ranks are on one host",
                "Leave it out, or start ranks on several hosts");
  });
  std::vector<std::uint32_t> hosts;
  for (const auto& [host, ranks] : ranks_on) hosts.push_back(host);
  const auto num_hosts = static_cast<std::uint32_t>(hosts.size());
  const auto chosen = sampled_hosts(num_hosts, sample_size(request.sample, num_hosts), request.seed);

  std::vector<int> taking_part;
  sample.emplace().num_started = num_hosts;
  for (std::uint32_t index = 0; index < num_hosts; ++index) {
    const std::vector<int>& ranks = ranks_on[hosts[index]];
    const bool is_chosen = std::ranges::binary_search(chosen, index);
    (is_chosen ? sample->host_names : sample->not_tested).push_back(all.host_name(ranks.front()));
    if (is_chosen) taking_part.insert(taking_part.end(), ranks.begin(), ranks.end());
  }
  bench::Losses losses;
  losses.ranks.assign(all.lost_ranks().begin(), all.lost_ranks().end());
  std::map<std::uint32_t, std::string> name_of;
  for (int rank = 0; rank < all.size(); ++rank) {
    name_of[all.host_of()[static_cast<std::size_t>(rank)]] = all.host_name(rank);
  }
  bench::add_findings(
      losses, all.host_of(), [&](std::uint32_t host) { return name_of.at(host); }, sample->findings);
  std::ranges::sort(taking_part);
  return taking_part;
}

}  // namespace

int run_check(const CheckRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
              const transport::LoadedModule& module, const bench::io::IoStart* io_start) {
  CheckRequest agreed = request;
  std::optional<Sample> sample;
  const command::Stopwatch joining;
  if (!request.sample.empty()) {
    const bool reports = bootstrap->rank() == 0;
    try {
      bootstrap = command::chosen_ranks(request, std::move(bootstrap),
                                        [&](Cluster& all) { return choose_ranks(agreed, all, sample); });
    } catch (const AgreedError& error) {
      const Error told = request.form == Form::nagios ? nagios_error(error) : Error(error);
      if (reports) command::complain(told);
      return static_cast<int>(told.status());
    }
    if (!bootstrap) return 0;
  }
  const double choosing_s = joining.elapsed_s();
  return command::run_in_frame(agreed, std::move(bootstrap), [&](Cluster& cluster, double joining_s) {
    return std::make_unique<CheckRun>(agreed, cluster, module, io_start, sample, choosing_s + joining_s);
  });
}

}  // namespace leadline::check
