// SPDX-License-Identifier: Apache-2.0
// In how many simulated runs of `leadline congestion` the interval of an impact factor holds the truth.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/congestion/impact.hpp"
#include "bench/congestion/queue_simulation.hpp"
#include "core/random.hpp"

namespace {

using namespace leadline;
using bench::congestion::Arrivals;
using bench::congestion::Factor;
using bench::congestion::Impact;
using bench::congestion::QueueSimulation;
using bench::congestion::RoundTimes;

constexpr std::array<Factor Impact::*, 4> factors{&Impact::mean, &Impact::median, &Impact::p99, &Impact::p999};

struct Held {
  std::array<int, factors.size()> num{};
  Impact truth;
};

Held held_by(const QueueSimulation& simulation, int num_runs, int num_rounds, std::uint64_t seed, int rounds_of_truth) {
  Random random(seed);
  Held held;
  held.truth = simulation.truth(random, rounds_of_truth);
  for (int run = 0; run < num_runs; ++run) {
    std::vector<RoundTimes> rounds;
    for (int i = 0; i < num_rounds; ++i) rounds.push_back(simulation.round(random));
    const Impact impact = bench::congestion::impact_of(rounds);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const Factor &told = impact.*factors[i], &truth = held.truth.*factors[i];
      held.num[i] += told.low <= truth.estimate && truth.estimate <= told.high ? 1 : 0;
    }
  }
  return held;
}

}  // namespace

/// [runs] [rounds of a run] [seed] [rounds of the truth]
int main(int num_words, char** words) {
  const auto word = [&](int index, int otherwise) { return num_words > index ? std::atoi(words[index]) : otherwise; };
  const int num_runs = word(1, 200), num_rounds = word(2, 10), seed = word(3, 1), rounds_of_truth = word(4, 1000);
  std::printf("of %d runs of %d rounds, seed %d\n%-8s %4s  %8s %8s %8s %8s   true p99\n", num_runs, num_rounds, seed,
              "arrivals", "load", "mean", "median", "p99", "p99.9");
  for (const auto& [arrivals, name] : {std::pair(Arrivals::packets, "packets"), {Arrivals::bursts, "bursts"}}) {
    for (const double utilization : {0.05, 0.5, 0.85}) {
      QueueSimulation simulation;
      simulation.arrivals = arrivals;
      simulation.utilization = utilization;
      const Held held = held_by(simulation, num_runs, num_rounds, static_cast<std::uint64_t>(seed), rounds_of_truth);
      std::printf("%-8s %3.0f%%  %8d %8d %8d %8d   %8.2f\n", name, 100 * utilization, held.num[0], held.num[1],
                  held.num[2], held.num[3], held.truth.p99.estimate);
      std::fflush(stdout);
    }
  }
  return 0;
}
