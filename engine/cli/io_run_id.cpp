// SPDX-License-Identifier: Apache-2.0
// Chooses the random number of a run, or finds it in what an earlier one has written.
#include "cli/io_run_id.hpp"

#include "bench/io/untimed_files.hpp"
#include "cli/run_collectively.hpp"
#include "result/shared_file.hpp"

namespace leadline::cli {
namespace {

constexpr int hexadecimal = 16;

std::uint64_t random_run() { return std::stoull(result::random_nonce().substr(0, 16), nullptr, hexadecimal); }

}  // namespace

std::uint64_t run_of(const IoRequest& request, const bench::io::Plan& plan, const std::vector<std::string>& files,
                     cluster::Cluster& cluster) {
  const std::string own =
      run_collectively(cluster, [&] { return cluster.rank() == 0 ? std::to_string(random_run()) : std::string(); });
  const std::uint64_t run = std::stoull(cluster.broadcast(own));
  if (request.operations != IoOperations::read || request.no_file) return run;
  return bench::io::writing_of_earlier_run(request, plan, files, cluster, {run, 0}).run;
}

}  // namespace leadline::cli
