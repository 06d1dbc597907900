// SPDX-License-Identifier: Apache-2.0
// Chooses, loads and tries out the backend of a parallel file test.
#include "cli/io_start.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "bench/io/plan.hpp"
#include "cli/io_validation.hpp"
#include "cli/run_command.hpp"
#include "cli/targets_file.hpp"
#include "cluster/rank_placement.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::cli {
namespace {

/// Where the target of rank 0 lies; empty where there is no such directory, which others will complain of.
std::string directory_of_target(const IoRequest& request) {
  std::string name = request.target;
  if (!request.targets_file.empty()) {
    name = names_in_targets(request.targets_file, read_targets_file(request.targets_file)).front();
  }
  const RankPlacement placement = cluster::local_placement();
  const std::filesystem::path path(bench::io::expand_target(name, {0, placement.host, placement.pid}));
  const std::string directory = path.has_parent_path() ? path.parent_path().string() : ".";
  std::error_code error;
  return std::filesystem::is_directory(directory, error) ? directory : std::string();
}

bool is_fragile(const storage::Entry& backend, const IoRequest& request) {
  return backend.needs_mpi && (request.calls == FileCalls::non_blocking || request.collective);
}

storage::Trial tried(const IoRequest& request, const storage::LoadedBackend& backend) {
  const std::string directory = directory_of_target(request);
  if (directory.empty()) return {};
  return storage::try_out(backend, {request.calls, request.collective, request.cache_path}, directory);
}

}  // namespace

IoStart start_io(IoRequest& request, cluster::FrontEnd front_end) {
  const cluster::Launcher launcher = cluster::detect_launcher(front_end);
  const std::string transport = transport::parse_choice(transport_for(request, launcher)).name;
  if (request.backend.empty()) request.backend = transport == "mpi" && !request.no_file ? "mpi-io" : "posix";
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

}  // namespace leadline::cli
