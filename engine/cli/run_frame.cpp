// SPDX-License-Identifier: Apache-2.0
// Joining, and how a run ends: without an error, with an error of all ranks, or with an error of one rank.
#include "cli/run_frame.hpp"

#include <chrono>
#include <exception>

#include "cli/run_collectively.hpp"
#include "cli/standard_streams.hpp"
#include "cli/stopwatch.hpp"
#include "core/error.hpp"

namespace leadline::cli {
namespace {

using cluster::Cluster;

std::unique_ptr<Cluster> join(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap) {
  cluster::JoinOptions options;
  options.timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
  options.interface = request.interface;
  options.host_name_suffix = request.host_name_suffix;
  return Cluster::join(std::move(bootstrap), options);
}

/// The end of a run on which all ranks agree: rank 0 prints the error, all ranks leave in order.
int end_in_order(Cluster& cluster, BenchmarkRun& run, const AgreedError& error) {
  if (cluster.rank() == 0) {
    run.mark_incomplete(error.what());
    complain(error.what());
  }
  cluster.leave();
  return static_cast<int>(error.status());
}

}  // namespace

int run_in_frame(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap, const MakeRun& make_run) {
  const Stopwatch joining;
  const std::unique_ptr<Cluster> cluster = join(request, std::move(bootstrap));
  const std::unique_ptr<BenchmarkRun> run = make_run(*cluster, joining.elapsed_s());
  try {
    run->run();
  } catch (const AgreedError& error) {
    return end_in_order(*cluster, *run, error);
  } catch (const Error& error) {
    cluster->abort(error);
  } catch (const std::exception& error) {
    cluster->abort(Error(ExitStatus::run_failed, "something unforeseen happened", error.what(), "Please report it"));
  }
  cluster->leave();
  return static_cast<int>(run->status());
}

void say_at_end(Cluster& cluster, const std::string& result_path, const std::function<std::string()>& text) {
  run_collectively(cluster, [&] {
    if (cluster.rank() == 0 && result_path != "-") say(text());
    return true;
  });
}

}  // namespace leadline::cli
