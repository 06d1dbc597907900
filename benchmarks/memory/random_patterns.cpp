// SPDX-License-Identifier: Apache-2.0
// What each rank does before a random pattern of a run of any size: the engine's own code, timed call by call.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <vector>

#include "schedule/pattern.hpp"

namespace {

using namespace leadline;

/// What is timed waits for nothing, so this is elapsed time, less what other programs had of the core.
double core_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

void run(int num_ranks, int ranks_per_host, int num_patterns) {
  std::vector<std::uint32_t> host_of;
  host_of.reserve(static_cast<std::size_t>(num_ranks));
  for (int rank = 0; rank < num_ranks; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank / ranks_per_host));
  const schedule::Participants participants{num_ranks, host_of};
  const std::vector<std::int32_t> ranks = schedule::participants_of(participants);
  for (int index = 0; index < num_patterns; ++index) {
    const double begin_ns = core_time_ns();
    const schedule::Pattern pattern =
        schedule::random_pattern(participants, ranks, 1, static_cast<std::uint64_t>(index));
    const schedule::Route route = pattern.route(num_ranks / 2);
    std::printf("%.0f %d\n", core_time_ns() - begin_ns, route.to);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s RANKS RANKS_PER_HOST PATTERNS\nprints a line a pattern: ns, partner\n", argv[0]);
    return 2;
  }
  try {
    run(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
  return 0;
}
