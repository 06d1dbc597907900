// SPDX-License-Identifier: Apache-2.0
// What of a request decides how ranks join.
#include "command/join.hpp"

#include <utility>

#include "cluster/divisible_bootstrap.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"
#include "transport/table.hpp"

namespace leadline::command {
namespace {

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::chrono::nanoseconds start_timeout_of(const RunRequest& request) {
  return nanoseconds_of(request.start_timeout_s > 0 ? request.start_timeout_s : request.timeout_s);
}

bool leaves_out_absent(const RunRequest& request) {
  const auto& transport = transport::transport_named(transport::parse_choice(request.transport).name);
  return !request.strict_ranks && transport::begins_without_absent(transport, request.transport_options);
}

std::unique_ptr<cluster::Cluster> join(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap) {
  cluster::JoinOptions options;
  options.timeout = nanoseconds_of(request.timeout_s);
  options.start_timeout = start_timeout_of(request);
  options.leaves_out_absent = leaves_out_absent(request);
  options.interface = request.interface;
  options.host_name_suffix = request.host_name_suffix;
  return cluster::Cluster::join(std::move(bootstrap), options);
}

std::unique_ptr<cluster::Bootstrap> chosen_ranks(const RunRequest& request,
                                                 std::unique_ptr<cluster::Bootstrap> bootstrap,
                                                 const ChooseRanks& choose) {
  const cluster::NetworkChoice network{request.interface, request.host_name_suffix};
  auto divisible = std::make_unique<cluster::DivisibleBootstrap>(std::move(bootstrap), network);
  cluster::DivisibleBootstrap& all = *divisible;
  const std::unique_ptr<cluster::Cluster> cluster = join(request, std::move(divisible));
  std::unique_ptr<cluster::Bootstrap> chosen;
  try {
    chosen = all.part(choose(*cluster));
  } catch (const AgreedError&) {
    cluster->leave();
    throw;
  } catch (const Error& error) {
    cluster->abort(error);
  }
  cluster->leave();
  return chosen;
}

}  // namespace leadline::command
