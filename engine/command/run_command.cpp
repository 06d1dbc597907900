// SPDX-License-Identifier: Apache-2.0
// Decides what starts the ranks, by which bootstrap they find each other and which transport they use.
#include "command/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "cluster/address.hpp"
#include "cluster/bootstrap.hpp"
#include "cluster/connection.hpp"
#include "cluster/environment.hpp"
#include "cluster/host_agent.hpp"
#include "cluster/host_launcher.hpp"
#include "cluster/local.hpp"
#include "cluster/pmi1.hpp"
#include "cluster/pmix.hpp"
#include "cluster/rank0_bootstrap.hpp"
#include "cluster/rank_placement.hpp"
#include "command/join.hpp"
#include "command/reporting.hpp"
#include "command/run_collectively.hpp"
#include "command/stopwatch.hpp"
#include "command/version.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"
#include "result/result_file.hpp"

namespace leadline::command {
namespace {

using cluster::Cluster;
using cluster::Launcher;

/// What `open` gives; where something is missing for it, the reason goes to `reasons`.
template <class Open>
auto tried(std::string& reasons, const char* name, const Open& open) -> std::optional<decltype(open())> {
  try {
    return open();
  } catch (const Error& error) {
    if (error.status() != ExitStatus::something_missing) throw;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name, error.reason());
    return std::nullopt;
  }
}

/// Whether the server that a launcher has named to its processes ("job.0;tcp4://127.0.0.1:44193") still listens.
bool has_pmix_server() {
  for (const char* variable : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2"}) {
    const char* const given = std::getenv(variable);
    const std::string text = given != nullptr ? given : "";
    const std::size_t address_at = text.find("://"), port_at = text.rfind(':');
    if (address_at == std::string::npos || port_at <= address_at) continue;
    const int port = std::atoi(text.c_str() + port_at + 1);
    const auto address = cluster::SocketAddress::parse(text.substr(address_at + 3, port_at - address_at - 3),
                                                       static_cast<std::uint16_t>(port));
    std::string why;
    if (address && cluster::connect_to(*address, {}, Deadline::after(std::chrono::seconds(1)), why)) return true;
  }
  return false;
}

/// By the launcher's own protocol, else by its MPI library. Where the launcher has gone, an MPI library would end the
/// process with many words of its own: then that is not tried.
std::unique_ptr<cluster::Bootstrap> bootstrap_by_launcher(Launcher launcher, std::chrono::nanoseconds timeout) {
  const bool is_pmi = launcher == Launcher::mpich || launcher == Launcher::slurm_pmi2;
  if (is_pmi && std::getenv("PMI_FD") != nullptr) return cluster::pmi1_bootstrap(launcher, timeout);
  std::string reasons = "pmi: PMI_FD is not set";
  if (!is_pmi) {
    reasons.clear();
    const bool has_pmix = tried(reasons, "pmix", [] { return cluster::open_pmix(); }).has_value();
    try {
      if (has_pmix) return cluster::pmix_bootstrap(launcher, timeout);
    } catch (const Error& error) {
      if (error.status() != ExitStatus::something_missing || !has_pmix_server()) throw;
      reasons = "pmix: " + error.why();
    }
  }
  auto found = tried(reasons, "mpi", [&] { return transport::open_module("mpi", launcher)->bootstrap(); });
  if (found) return *std::move(found);
  throw Error(ExitStatus::something_missing,
              fmt::format("the ranks cannot find each other under {}", cluster::name_of(launcher)), reasons,
              fmt::format("Install what is missing, use the LEADLINE_* variables, or remove the {} variables where no "
                          "launcher has started this process",
                          is_pmi ? "PMI_*" : "PMIX_*"));
}

int num_local_ranks(const RunRequest& request) {
  return request.num_local > 0 ? request.num_local : std::max(2, cluster::usable_cores());
}

bool is_mpi_launcher(Launcher launcher) {
  constexpr Launcher others[] = {Launcher::none, Launcher::hosts, Launcher::environment, Launcher::slurm_step};
  return std::ranges::find(others, launcher) == std::end(others);
}

std::string default_output(const std::string& benchmark, ResultFormat format) {
  return format == ResultFormat::json ? "-" : result::default_file_name(benchmark, format, std::time(nullptr));
}

/// Of --launch. By default ssh that asks for nothing: no password, no unknown key, and no answer ends it in half of the
/// time that the start may take.
std::vector<std::string> launch_words(const RunRequest& request) {
  std::istringstream given(request.launch);
  std::vector<std::string> words{std::istream_iterator<std::string>(given), {}};
  if (!words.empty()) return words;
  const auto timeout_s = std::max<long long>(1, start_timeout_of(request) / std::chrono::seconds(2));
  return {"ssh", "-T", "-x", "-oBatchMode=yes", fmt::format("-oConnectTimeout={}", timeout_s)};
}

/// A batch script has the number of the job's tasks in its environment, and none of a step: it may start them.
bool is_batch_script(const cluster::UnsupportedLauncher& launcher) {
  return std::string_view(launcher.rank) == "SLURM_PROCID" && std::getenv("SLURM_STEP_NUM_TASKS") == nullptr;
}

int run_on_hosts(RunRequest& request, Launcher launcher) {
  const cluster::UnsupportedLauncher* const unsupported = cluster::unsupported_launcher();
  if (launcher != Launcher::none || (unsupported != nullptr && !is_batch_script(*unsupported))) {
    throw Error(ExitStatus::bad_command_line, "--hosts cannot be used here",
                fmt::format("{} started this process among others",
                            launcher != Launcher::none ? cluster::name_of(launcher) : unsupported->name),
                "Start it once, without a launcher, or leave --hosts out");
  }
  request.transport = transport_for(request, launcher);
  if (transport::parse_choice(request.transport).name == "mpi") {
    throw Error(ExitStatus::bad_command_line, "--transport mpi and --hosts do not go together",
                "an MPI library finds its ranks through its own launcher", "Use mpirun, or another --transport");
  }
  cluster::HostsRun run;
  run.hosts = request.hosts;
  run.ranks_per_host = std::max(1, request.ranks_per_host);
  run.command = launch_words(request);
  std::error_code error;
  run.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) throw Error(ExitStatus::run_failed, "cannot tell where this program is", error.message());
  run.version = full_version();
  run.arguments = request.command_line;
  run.start_timeout = start_timeout_of(request);
  run.leaves_out_absent = leaves_out_absent(request);
  return cluster::launch_on_hosts(run);
}

/// The end of a run on which all ranks agree: the root prints the error, all ranks leave in order.
int end_in_order(Cluster& cluster, BenchmarkRun& run, const AgreedError& error) {
  if (cluster.is_root()) {
    run.mark_incomplete(error.what());
    complain(error);
  }
  cluster.leave();
  return static_cast<int>(error.status());
}

}  // namespace

std::unique_ptr<cluster::Bootstrap> launcher_bootstrap(const transport::LoadedModule& module, Launcher launcher,
                                                       std::chrono::nanoseconds timeout, bool leaves_out_absent) {
  if (launcher == Launcher::environment) {
    if (!cluster::has_own_variables()) return cluster::torchrun_bootstrap(timeout);
    return cluster::has_addresses_of_all() ? cluster::environment_bootstrap()
                                           : cluster::rank0_bootstrap(timeout, leaves_out_absent);
  }
  if (launcher == Launcher::hosts) return cluster::hosts_bootstrap(timeout);
  if (launcher == Launcher::linktest) return cluster::linktest_environment_bootstrap();
  if (auto own = module->bootstrap()) return own;
  if (launcher == Launcher::slurm_step) return cluster::slurm_step_bootstrap(timeout);
  return bootstrap_by_launcher(launcher, timeout);
}

std::string full_version() { return fmt::format("{}{}{}", version, *commit != '\0' ? " " : "", commit); }

void refuse_unconnected_ranks() {
  const cluster::UnsupportedLauncher* const launcher = cluster::unsupported_launcher();
  if (launcher == nullptr) return;
  const auto text_of = [](const char* variable) {
    const char* const value = variable != nullptr ? std::getenv(variable) : nullptr;
    return value != nullptr ? fmt::format("{} is {}", variable, value) : std::string();
  };
  const std::string num_ranks = text_of(launcher->num_ranks);
  throw Error(ExitStatus::something_missing,
              fmt::format("the ranks that {} started cannot find each other", launcher->name),
              text_of(launcher->rank) + (num_ranks.empty() ? "" : ", ") + num_ranks,
              std::string_view(launcher->rank) == "SLURM_PROCID"
                  ? "Use srun --mpi=pmix (also for Open MPI) or srun --mpi=pmi2 (also for MPICH); --local N measures "
                    "this host alone"
                  : "Use mpirun, mpiexec or srun, or the LEADLINE_* variables (docs/how-to/start-it.md); --local N "
                    "measures this host alone");
}

std::string transport_for(const RunRequest& request, Launcher launcher) {
  if (!request.transport.empty()) return request.transport;
  return is_mpi_launcher(launcher) ? "mpi" : "tcp";
}

int run_ranks(RunRequest& request, const std::string& benchmark, const RunRank& run_rank) {
  Launcher launcher = cluster::detect_launcher();
  // A container may have the variables of torchrun, and a shell the port of rank 0, whatever is started in it.
  const bool starts_ranks = request.num_local > 0 || !request.hosts.empty();
  if (launcher == Launcher::environment && !cluster::has_own_rank() && starts_ranks) launcher = Launcher::none;
  if (!request.hosts.empty() && launcher != Launcher::hosts) return run_on_hosts(request, launcher);
  if (launcher != Launcher::none && request.num_local > 0) {
    throw Error(ExitStatus::bad_command_line, "--local has no effect here", "a launcher started the ranks",
                "Leave it out");
  }
  if (request.output.empty()) request.output = default_output(benchmark, request.format);
  request.transport = transport_for(request, launcher);
  const transport::LoadedModule module =
      transport::open_module(transport::parse_choice(request.transport).name, launcher);

  if (launcher != Launcher::none) {
    return run_rank(launcher_bootstrap(module, launcher, start_timeout_of(request), leaves_out_absent(request)),
                    module);
  }
  if (request.num_local == 0) refuse_unconnected_ranks();
  return cluster::launch_local(num_local_ranks(request), [&](std::unique_ptr<cluster::Bootstrap> bootstrap) {
    return run_rank(std::move(bootstrap), module);
  });
}

DryRunRanks dry_run_ranks(const RunRequest& request, const std::string& benchmark) {
  const int num_on_hosts = static_cast<int>(request.hosts.size()) * std::max(1, request.ranks_per_host);
  const int num_here = request.dry_run_ranks > 0 ? request.dry_run_ranks : num_local_ranks(request);
  const int num_ranks = num_on_hosts > 0 ? num_on_hosts : num_here;
  DryRunRanks dry_run;
  dry_run.max_ranks_per_host = num_on_hosts > 0             ? std::max(1, request.ranks_per_host)
                               : request.ranks_per_host > 0 ? std::min(request.ranks_per_host, num_ranks)
                                                            : num_ranks;
  dry_run.host_of.resize(static_cast<std::size_t>(num_ranks));
  for (int rank = 0; rank < num_ranks; ++rank) {
    dry_run.host_of[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(rank / dry_run.max_ranks_per_host);
  }
  StepLog("leadline " + benchmark, request.verbose && cluster::rank_hint() == 0)
      .tell(fmt::format("a plan for {} ranks, {} a host: none of them is started, no transport is opened", num_ranks,
                        dry_run.max_ranks_per_host));
  return dry_run;
}

int say_plan(const std::function<std::string()>& plan_text) {
  if (cluster::rank_hint() == 0) say(plan_text());
  return 0;
}

void run_agreed(Cluster& cluster, BenchmarkRun& run) {
  try {
    run.run();
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    cluster.abort(error);
  } catch (const std::exception& error) {
    cluster.abort(Error(ExitStatus::run_failed, "something unforeseen happened", error.what(), "Please report it"));
  }
}

int run_in_frame(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap, const MakeRun& make_run) {
  const Stopwatch joining;
  const std::unique_ptr<Cluster> cluster = join(request, std::move(bootstrap));
  const std::unique_ptr<BenchmarkRun> run = make_run(*cluster, joining.elapsed_s());
  try {
    run_agreed(*cluster, *run);
  } catch (const AgreedError& error) {
    return end_in_order(*cluster, *run, error);
  }
  cluster->leave();
  return static_cast<int>(run->status());
}

void say_at_end(Cluster& cluster, const std::string& result_path, const std::function<std::string()>& text) {
  run_on_root(cluster, [&] {
    if (result_path != "-") say_if_read(text());
  });
}

}  // namespace leadline::command
