// SPDX-License-Identifier: Apache-2.0
// What surrounds every benchmark: the ranks join, the benchmark runs, and all ranks end with the same status.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cluster/bootstrap.hpp"
#include "cluster/cluster.hpp"
#include "core/error.hpp"
#include "model/request.hpp"

namespace leadline::cli {

/// One rank's run of a benchmark.
class BenchmarkRun {
 public:
  BenchmarkRun() = default;
  BenchmarkRun(const BenchmarkRun&) = delete;
  BenchmarkRun& operator=(const BenchmarkRun&) = delete;
  virtual ~BenchmarkRun() = default;

  /// Collective. Throws AgreedError, or an Error of this rank alone.
  virtual void run() = 0;

  /// Local, after run(): the exit status of a run that finished; the same on all ranks.
  virtual ExitStatus status() const { return ExitStatus::ok; }

  /// Local, for the one rank that reports after an agreed error; there may be no file yet.
  virtual void mark_incomplete(const std::string& reason) = 0;
};

/// `joining_s`: how long it took until all ranks were connected.
using MakeRun = std::function<std::unique_ptr<BenchmarkRun>(cluster::Cluster& cluster, double joining_s)>;

/// Collective. Returns the exit status; reports errors itself, once, from one rank.
int run_in_frame(const RunRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap, const MakeRun& make_run);

/// Collective, at the end: rank 0 prints `text()`, unless the result itself went to standard output ("-"). Throws
/// AgreedError.
void say_at_end(cluster::Cluster& cluster, const std::string& result_path, const std::function<std::string()>& text);

}  // namespace leadline::cli
