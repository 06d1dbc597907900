// SPDX-License-Identifier: Apache-2.0
// Brings names from rank 0 to all.
#include "cli/io_names.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "cli/targets_file.hpp"
#include "cli/together.hpp"

namespace leadline::cli {
namespace {

/// By index, in lines; on rank 0.
std::string host_lines(const Surroundings& surroundings) {
  std::string text;
  for (const auto& [index, name] : surroundings.gather_host_names()) text += name + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

bench::io::Names gather_names(const IoRequest& request, const Surroundings& surroundings, cluster::Cluster& cluster) {
  bench::io::Names names;
  names.hosts = lines_of(cluster.broadcast(host_lines(surroundings)));
  const std::string own =
      together(cluster, [&] { return cluster.rank() == 0 ? read_targets_file(request.targets_file) : std::string(); });
  const std::string targets = cluster.broadcast(own);
  names.targets = together(cluster, [&] { return names_in_targets(request.targets_file, targets); });
  return names;
}

bench::io::Names pretended_names(const IoRequest& request, const PretendedRanks& ranks) {
  bench::io::Names names;
  const std::size_t num_hosts = ranks.host_of.empty() ? 0 : std::size_t{1} + ranks.host_of.back();
  for (std::size_t host = 0; host < num_hosts; ++host) {
    names.hosts.push_back(host < request.io_hosts.size() ? request.io_hosts[host] : fmt::format("host{}", host));
  }
  names.targets = names_in_targets(request.targets_file, read_targets_file(request.targets_file));
  return names;
}

}  // namespace leadline::cli
