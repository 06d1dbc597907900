// SPDX-License-Identifier: Apache-2.0
// Brings names from rank 0 to all.
#include "cli/io_names.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_collectively.hpp"
#include "cli/targets_file.hpp"

namespace leadline::cli {
namespace {

/// By index, in lines; on rank 0.
std::string host_lines(const RunEnvironment& run_environment) {
  std::string text;
  for (const auto& [index, name] : run_environment.gather_host_names()) text += name + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

bench::io::Names gather_names(const IoRequest& request, const RunEnvironment& run_environment,
                              cluster::Cluster& cluster) {
  bench::io::Names names;
  names.hosts = lines_of(cluster.broadcast(host_lines(run_environment)));
  const std::string own = run_collectively(
      cluster, [&] { return cluster.rank() == 0 ? read_targets_file(request.targets_file) : std::string(); });
  const std::string targets = cluster.broadcast(own);
  names.targets = run_collectively(cluster, [&] { return names_in_targets(request.targets_file, targets); });
  return names;
}

bench::io::Names dry_run_names(const IoRequest& request, const DryRunRanks& ranks) {
  bench::io::Names names;
  const std::size_t num_hosts = ranks.host_of.empty() ? 0 : std::size_t{1} + ranks.host_of.back();
  for (std::size_t host = 0; host < num_hosts; ++host) {
    names.hosts.push_back(host < request.io_hosts.size() ? request.io_hosts[host] : fmt::format("host{}", host));
  }
  names.targets = names_in_targets(request.targets_file, read_targets_file(request.targets_file));
  return names;
}

}  // namespace leadline::cli
